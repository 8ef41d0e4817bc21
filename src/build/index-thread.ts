import { closeSync, openSync, readSync, unlinkSync, writeFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { Tables } from '../domain/derived/tables.ts'
import { createIndexBuilder } from '../search/index/build-index.ts'
import type { BodyStore, IndexNoun } from '../search/index/index-file.ts'
import { toIndexTables } from '../search/index/index-tables.ts'
import type { OperationPart, SearchDocument } from '../search/index/search-document.ts'

/** A listing's document, and how each of its operations' documents differs from it. */
export interface IndexedListing {
  document: SearchDocument
  operations: OperationPart[]
}

export interface IndexWork {
  tables: Tables
  /** The file with one line per listing. */
  listings: string
  /** The indexes' files. */
  files: Record<IndexNoun, string>
}

/** How much is written and read at once (bytes). */
const A_PIECE = 1 << 20

// A thread's data has type `any`; `beginIndexes` passes this type.
const { tables, listings, files }: IndexWork = workerData
const indexTables = toIndexTables(tables)
const source = openSync(listings, 'r')
const indexes = {
  listing: beginIndex('listing'),
  operation: beginIndex('operation'),
}
let at = 0

/** Each message says how many bytes of the listings' file are written, always whole lines; null is the last message. */
parentPort?.on('message', (end: number | null) => {
  if (end === null) {
    for (const index of Object.values(indexes)) index.finish()
    return parentPort?.close()
  }
  const lines = Buffer.allocUnsafe(end - at)
  readSync(source, lines, 0, lines.length, at)
  at = end
  for (const line of lines.toString().trimEnd().split('\n')) {
    // JSON.parse returns `any`; the build wrote this line from this very type.
    const { document, operations }: IndexedListing = JSON.parse(line)
    indexes.listing.add(document)
    for (const part of operations) indexes.operation.add({ ...document, ...part })
  }
})

/** Bodies are first written to a nameless file in the order they come, then copied in row order. */
function beginIndex(noun: IndexNoun) {
  const path = files[noun]
  const builder = createIndexBuilder({ noun, ...indexTables })
  const bodies = beginFile(`${path}.bodies`)
  unlinkSync(`${path}.bodies`)
  return {
    add: (document: SearchDocument) => bodies.write(builder.add(document)),
    finish(): void {
      bodies.flush()
      const index = beginFile(path)
      for (const part of builder.finish(createBodyReader(bodies.file))) index.write(part)
      index.flush()
      closeSync(index.file)
      closeSync(bodies.file)
    },
  }
}

function beginFile(path: string) {
  const file = openSync(path, 'w+')
  const piece = Buffer.allocUnsafe(A_PIECE)
  let size = 0
  const flush = () => {
    writeFileSync(file, piece.subarray(0, size))
    size = 0
  }
  return {
    file,
    flush,
    write(bytes: Uint8Array): void {
      if (size + bytes.length > A_PIECE) flush()
      if (bytes.length > A_PIECE) writeFileSync(file, bytes)
      else {
        piece.set(bytes, size)
        size += bytes.length
      }
    },
  }
}

/** Bodies are in id order, and so are most rows, so the next body is usually in the piece read last. */
function createBodyReader(file: number): BodyStore {
  let piece = Buffer.allocUnsafe(A_PIECE)
  let [start, end] = [0, 0]
  return {
    read(at, length) {
      if (length > piece.length) piece = Buffer.allocUnsafe(length)
      if (at < start || at + length > end) {
        start = at
        end = at + readSync(file, piece, 0, piece.length, at)
      }
      return piece.subarray(at - start, at - start + length)
    },
  }
}
