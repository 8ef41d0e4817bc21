import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import {
  INDEX_HEADER_BYTES,
  type IndexHeader,
  readIndexHeader,
  SearchIndexError,
} from '../../src/search/index-file.ts'
import type { BodyStore } from '../../src/search/index-part.ts'
import {
  loadSearchIndexHead,
  verifyBodies,
  verifyLength,
} from '../../src/search/load-search-index.ts'
import type { SearchIndex } from '../../src/search/loaded-index.ts'

export interface OpenOptions {
  /** Listing bodies up to this many bytes in all are kept in memory; more stay in the file. */
  memoryBytes?: number
  /**
   * Read every body once before returning, so that a damaged file is refused as a whole. Otherwise
   * a body is verified when a response needs it.
   */
  verify?: boolean
}

const DEFAULT_MEMORY_BYTES = 32 * 1024 * 1024

/** Closes the file of an index that nobody holds any more: searches may still be using an old one. */
const abandoned = new FinalizationRegistry<number>((file) => closeSync(file))

/**
 * Opens an index file for serving: the head in memory, the bodies there too if they are small,
 * else read from the file a page at a time (the system's page cache keeps the popular ones).
 * @throws SearchIndexError when it is damaged, cut short, or of another version
 */
export function openSearchIndex(path: string, options: OpenOptions = {}): SearchIndex {
  const { memoryBytes = DEFAULT_MEMORY_BYTES, verify = true } = options
  const file = openSync(path, 'r')
  try {
    const header = readIndexHeader(
      readAt(file, 0, Math.min(INDEX_HEADER_BYTES, fstatSync(file).size)),
    )
    verifyLength(header, fstatSync(file).size)
    const head = readAt(file, 0, header.headBytes)
    const inMemory = header.bodyBytes <= memoryBytes
    const bodies = inMemory ? memoryBodies(file, header) : fileBodies(file, header)
    const index = loadSearchIndexHead(head, header, bodies)
    if (verify) verifyBodies(index)
    if (inMemory) closeSync(file)
    else abandoned.register(bodies, file)
    // A file can change under a reader; memory that was verified can not.
    return { ...index, verifyReads: !(verify && inMemory) }
  } catch (error) {
    closeSync(file)
    throw error
  }
}

function memoryBodies(file: number, header: IndexHeader): BodyStore {
  const bodies = readAt(file, header.headBytes, header.bodyBytes)
  return { read: (at, length) => bodies.subarray(at, at + length) }
}

/** Read ahead where bodies are read one behind the other, as when all are verified. */
const WINDOW_BYTES = 64 * 1024

/** Bodies are read into memory used over and over; only one larger than it gets its own. */
function fileBodies(file: number, header: IndexHeader): BodyStore {
  const window = takeMemory(WINDOW_BYTES)
  let start = 0
  let end = 0
  return {
    read(at, length) {
      if (length > WINDOW_BYTES) return readAt(file, header.headBytes + at, length)
      if (at < start || at + length > end) {
        const ahead = Math.min(WINDOW_BYTES, header.bodyBytes - at)
        const isNext = at >= start && at <= end
        start = at
        end = at
        fill(window.subarray(0, isNext ? ahead : length), file, header.headBytes + at)
        end = at + (isNext ? ahead : length)
      }
      return window.subarray(at - start, at - start + length)
    },
  }
}

function readAt(file: number, position: number, length: number): Uint8Array<ArrayBuffer> {
  return fill(takeMemory(length), file, position)
}

/**
 * An ArrayBuffer of its own, not a slice of Node's pool: typed arrays need it aligned. Not zeroed:
 * all of it is read into. No Buffer, whose `slice` would not copy.
 */
function takeMemory(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.allocUnsafeSlow(length).buffer)
}

function fill(
  bytes: Uint8Array<ArrayBuffer>,
  file: number,
  position: number,
): Uint8Array<ArrayBuffer> {
  let filled = 0
  while (filled < bytes.length) {
    const read = readSync(file, bytes, filled, bytes.length - filled, position + filled)
    if (read === 0) throw new SearchIndexError('The search index is damaged: it ends too early.')
    filled += read
  }
  return bytes
}
