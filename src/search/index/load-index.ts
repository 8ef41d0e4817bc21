import { readWordSets } from '../words/word-sets.ts'
import { filterValues } from './columns.ts'
import { findExact } from './exact-table.ts'
import {
  type IndexHeader,
  readIndexHead,
  readIndexHeader,
  SearchIndexError,
  verifyBytes,
} from './index-file.ts'
import type { BodyStore, IndexData, SearchIndex } from './index-shape.ts'
import { BODY_START } from './search-document.ts'

/**
 * Loads an index file that is entirely in memory, by mapping typed arrays onto it, and verifies it.
 * @throws SearchIndexError when it is damaged, cut short, or of another version
 */
export function loadSearchIndex(file: Uint8Array): SearchIndex {
  const aligned = file.byteOffset % 8 === 0 ? file : file.slice()
  const header = readIndexHeader(aligned)
  verifyLength(header, aligned.byteLength)
  const bodies = aligned.subarray(header.headBytes)
  const index = loadSearchIndexHead(aligned.subarray(0, header.headBytes), header, {
    read: (at, length) => bodies.subarray(at, at + length),
  })
  for (const _step of verifyBodies(index));
  return { ...index, verifyReads: false }
}

/** @throws SearchIndexError when the file was cut short, or something was added to it */
export function verifyLength(header: IndexHeader, bytes: number): void {
  const expected = header.headBytes + header.bodyBytes
  if (bytes === expected) return
  throw new SearchIndexError(
    `The search index is damaged: it has ${bytes} bytes, written were ${expected}. Build it again.`,
  )
}

/** Bodies verified in one step: some hundred KiB, less than a millisecond. */
const BODIES_AT_A_TIME = 512

/**
 * Reads every body once, in short steps: the caller may do something else in between.
 * @throws SearchIndexError at the first damaged one
 */
export function* verifyBodies(index: SearchIndex): Generator<void> {
  for (let row = 0; row < index.firstParty.end; row += 1) {
    readBody(index, row)
    if (row % BODIES_AT_A_TIME === 0) yield
  }
}

/**
 * As `loadSearchIndex`, for a reader that keeps only the head in memory. Bodies are verified one by
 * one as they are read.
 * @param head the first `headBytes` of the file, at an offset that is a multiple of 8
 * @throws SearchIndexError when it is damaged
 */
export function loadSearchIndexHead(
  head: Uint8Array,
  header: IndexHeader,
  bodies: BodyStore,
): SearchIndex {
  const data = readIndexHead(head, header)
  const { organicRows, trustMarks } = data
  return {
    ...data,
    organic: { name: 'organic', start: 0, end: organicRows },
    firstParty: { name: 'firstParty', start: organicRows, end: trustMarks.length },
    filterPlaces: placeBitSets(data),
    words: readWordSets(data.searchWords),
    bodies,
    verifyReads: true,
  }
}

/**
 * A program with a filter that the file has no bit set for would answer it with nothing, and one
 * without a filter of the file is older than the file: neither serves it.
 */
function placeBitSets({ filters, filterValues: written }: IndexData): Map<string, number> {
  const known = new Set(filterValues(filters))
  const missing = [...known].find((value) => !written.includes(value))
  const unknown = written.find((value) => !known.has(value))
  if (missing !== undefined || unknown !== undefined)
    throw new SearchIndexError(
      missing === undefined
        ? `The search index has a filter that this program does not know: ${unknown}. Build it again.`
        : `The search index lacks a filter of this program: ${missing}. Build it again.`,
    )
  return new Map(written.map((value, at) => [value, at]))
}

const decoder = new TextDecoder()
const QUOTATION_MARK = 0x22

/** The listing id of a row. */
export function readId(index: SearchIndex, row: number): string {
  return decoder.decode(idOf(readBody(index, row)))
}

/** The ASCII of the id that a body starts with. */
export function idOf(body: Uint8Array): Uint8Array {
  return body.subarray(BODY_START.length, body.indexOf(QUOTATION_MARK, BODY_START.length))
}

/** The row of an id, or -1. */
export function findId({ exact }: SearchIndex, id: string): number {
  return findExact(exact, 'id', id)[0] ?? -1
}

/**
 * The prepared bytes of a row's listing summary; see `SearchDocument` for what they lack. They are
 * valid until the next read.
 * @throws SearchIndexError when they were damaged on the way
 */
export function readBody(index: SearchIndex, row: number): Uint8Array {
  const start = index.bodyStarts[row] ?? 0
  const body = index.bodies.read(start, (index.bodyStarts[row + 1] ?? 0) - start)
  if (index.verifyReads) verifyBytes(`body of row ${row}`, body, index.bodyChecksums[row] ?? 0)
  return body
}
