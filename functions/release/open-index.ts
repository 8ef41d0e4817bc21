import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { setImmediate as pause } from 'node:timers/promises'
import {
  type BodyStore,
  INDEX_HEADER_BYTES,
  type IndexHeader,
  loadSearchIndexHead,
  readIndexHeader,
  type SearchIndex,
  SearchIndexError,
  verifyBodies,
  verifyLength,
} from '../../src/search/index/index-file.ts'

const DEFAULT_MEMORY_BYTES = 32 * 1024 * 1024

/** Closes an index's file once nothing refers to it: searches may still be using an old one. */
const abandoned = new FinalizationRegistry<number>((file) => closeSync(file))

/**
 * Opens an index file for serving: the head in memory, small bodies too, larger ones one by one from
 * the file (the system's page cache keeps the popular ones). Everything in memory was verified; a
 * body in the file is verified each time it is read.
 * @param memoryBytes listing bodies up to this many bytes in all are kept in memory
 * @throws SearchIndexError when it is damaged, cut short, or of another version
 */
export function openSearchIndex(path: string, memoryBytes = DEFAULT_MEMORY_BYTES): SearchIndex {
  const file = openSync(path, 'r')
  try {
    const header = readIndexHeader(
      readAt(file, 0, Math.min(INDEX_HEADER_BYTES, fstatSync(file).size)),
    )
    verifyLength(header, fstatSync(file).size)
    const head = readAt(file, 0, header.headBytes)
    if (header.bodyBytes <= memoryBytes) {
      const index = loadSearchIndexHead(head, header, memoryBodies(file, header))
      for (const _step of verifyBodies(index));
      closeSync(file)
      return { ...index, verifyReads: false }
    }
    const bodies = fileBodies(file, header)
    const index = loadSearchIndexHead(head, header, bodies)
    abandoned.register(bodies, file)
    return index
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/**
 * Reads every body that stays in the file once, so that damage is found before somebody requests
 * the damaged listing. Other work goes on meanwhile.
 * @throws SearchIndexError at the first damaged one
 */
export async function verifyBodiesInSteps(index: SearchIndex): Promise<void> {
  if (!index.verifyReads) return
  for (const _step of verifyBodies(index)) await pause()
}

function memoryBodies(file: number, header: IndexHeader): BodyStore {
  const bodies = readAt(file, header.headBytes, header.bodyBytes)
  return { read: (at, length) => bodies.subarray(at, at + length) }
}

function fileBodies(file: number, header: IndexHeader): BodyStore {
  return { read: (at, length) => readAt(file, header.headBytes + at, length) }
}

/**
 * In an ArrayBuffer of its own, not a slice of Node's pool: typed arrays need it aligned. Not zeroed:
 * it is filled completely. No Buffer, whose `slice` would not copy.
 */
function readAt(file: number, position: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer)
  let filled = 0
  while (filled < length) {
    const read = readSync(file, bytes, filled, length - filled, position + filled)
    if (read === 0) throw new SearchIndexError('The search index is damaged: it ends too early.')
    filled += read
  }
  return bytes
}
