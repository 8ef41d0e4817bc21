import { readWordSets, type WordSets } from '../words/word-sets.ts'
import { type createColumns, type FilterVocabulary, filterValues } from './columns.ts'
import { type ExactTable, findExact } from './exact-table.ts'
import { BODY_START } from './search-document.ts'
import type { RangeName, TermIndex, WordTable } from './terms.ts'

/**
 * The container of the search index: one file, whose head is read whole and whose bodies are read a
 * few at a time.
 *
 * ```
 * 0   8  "DIRINDEX"
 * 8   4  format version
 * 12  4  bytes of the table: the index as JSON, with a place in the file for each typed array
 * 16  8  bytes of the head: this header, the table and all arrays
 * 24  8  bytes of the bodies, which follow the head
 * 32  4  checksum of the head from byte 40; the index itself has a checksum for each body
 * 36  4  checksum of the header up to here
 * 40  …  table, then arrays, each at a multiple of 8 so that it can be used in place
 * ```
 * All numbers are little-endian; a big-endian machine is refused, because typed arrays use its byte order.
 */

const INDEX_FORMAT_VERSION = 18
export const INDEX_HEADER_BYTES = 40
const HEADER_CHECKSUM_AT = 36
const MAGIC = 'DIRINDEX'
const ALIGNMENT = 8

/** The file cannot be used; the message says what is wrong and what to do. */
export class SearchIndexError extends Error {
  override name = 'SearchIndexError'
}

/** The kinds of arrays in an index, by their names in the table. */
const ARRAYS = { Uint8Array, Uint16Array, Uint32Array, Float64Array }
type TypedArray = InstanceType<(typeof ARRAYS)[keyof typeof ARRAYS]>

/** The table's entry for an array; positions are counted from the end of the table. */
interface ArrayPlace {
  array: keyof typeof ARRAYS
  at: number
  length: number
}

interface IndexHeader {
  headBytes: number
  bodyBytes: number
  tableBytes: number
  headChecksum: number
}

/** The parts of an index file: the index, then its rows' bodies in order. */
export function* toIndexFile(
  index: IndexData,
  bodies: Iterable<Uint8Array>,
): Generator<Uint8Array> {
  const arrays: Uint8Array[] = []
  let size = 0
  const text = JSON.stringify(index, (_, value: unknown) => {
    if (!isTypedArray(value)) return value
    const at = size
    const bytes = toAligned(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
    arrays.push(bytes)
    size += bytes.length
    return { array: value.constructor.name, at, length: value.length }
  })
  const table = new TextEncoder().encode(text)
  const start = new Uint8Array(align(INDEX_HEADER_BYTES + table.length))
  start.set(table, INDEX_HEADER_BYTES)
  writeHeader(start, {
    tableBytes: table.length,
    headBytes: start.length + size,
    bodyBytes: index.bodyStarts.at(-1) ?? 0,
    headChecksum: checksum([start.subarray(INDEX_HEADER_BYTES), ...arrays]),
  })
  yield start
  yield* arrays
  yield* bodies
}

/** Pads with zeros up to where the next array may begin. */
function toAligned(bytes: Uint8Array): Uint8Array {
  if (bytes.length % ALIGNMENT === 0) return bytes
  const aligned = new Uint8Array(align(bytes.length))
  aligned.set(bytes)
  return aligned
}

function isTypedArray(value: unknown): value is TypedArray {
  return Object.values(ARRAYS).some((Kind) => value instanceof Kind)
}

function align(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}

function writeHeader(file: Uint8Array, header: IndexHeader): void {
  const view = new DataView(file.buffer)
  file.set(new TextEncoder().encode(MAGIC), 0)
  view.setUint32(8, INDEX_FORMAT_VERSION, true)
  view.setUint32(12, header.tableBytes, true)
  view.setFloat64(16, header.headBytes, true)
  view.setFloat64(24, header.bodyBytes, true)
  view.setUint32(32, header.headChecksum, true)
  view.setUint32(HEADER_CHECKSUM_AT, checksum([file.subarray(0, HEADER_CHECKSUM_AT)]), true)
}

/**
 * Reads the header alone, from which a reader learns how much to load.
 * @throws SearchIndexError if the file is not a search index, is damaged, or has another version
 */
export function readIndexHeader(bytes: Uint8Array): IndexHeader {
  const magic = new TextDecoder().decode(bytes.subarray(0, MAGIC.length))
  if (bytes.byteLength < INDEX_HEADER_BYTES || magic !== MAGIC) {
    throw new SearchIndexError(
      `This is not a search index: its ${bytes.byteLength} bytes do not start with ${MAGIC}. Build it again.`,
    )
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, INDEX_HEADER_BYTES)
  const version = view.getUint32(8, true)
  if (version !== INDEX_FORMAT_VERSION) {
    throw new SearchIndexError(
      `The search index has format ${version}, but this program reads format ${INDEX_FORMAT_VERSION}. Build it again.`,
    )
  }
  const written = view.getUint32(HEADER_CHECKSUM_AT, true)
  verifyBytes('header', bytes.subarray(0, HEADER_CHECKSUM_AT), written)
  return {
    tableBytes: view.getUint32(12, true),
    headBytes: view.getFloat64(16, true),
    bodyBytes: view.getFloat64(24, true),
    headChecksum: view.getUint32(32, true),
  }
}

/**
 * @param part what the bytes are, for the message
 * @throws SearchIndexError if `bytes` do not match the checksum
 */
function verifyBytes(part: string, bytes: Uint8Array, expected: number): void {
  const found = checksum([bytes])
  if (found === expected) return
  throw new SearchIndexError(
    `The search index is damaged: its ${part} has checksum ${found.toString(16)} instead of ${expected.toString(16)}. Build it again.`,
  )
}

/**
 * Reads the index from the head, with its arrays in place.
 * @throws SearchIndexError if the head is damaged
 */
export function readIndexHead(head: Uint8Array, header: IndexHeader): IndexData {
  verifyBytes('head', head.subarray(INDEX_HEADER_BYTES), header.headChecksum)
  const end = INDEX_HEADER_BYTES + header.tableBytes
  const text = new TextDecoder().decode(head.subarray(INDEX_HEADER_BYTES, end))
  const start = head.byteOffset + align(end)
  // Safe: the build wrote this text in this format just before computing the checksum.
  return JSON.parse(text, (_, value: unknown) => {
    if (!isPlace(value)) return value
    // The constructors are typed for unshared memory, but accept shared memory too.
    return new ARRAYS[value.array](head.buffer as ArrayBuffer, start + value.at, value.length)
  }) as IndexData
}

function isPlace(value: unknown): value is ArrayPlace {
  return typeof value === 'object' && value !== null && 'array' in value
}

const PRIME = 0x01000193
const SEED = 0x811c9dc5

/**
 * A 32-bit checksum against damage (not against forgery): FNV-1a over 32-bit words in two lanes, so
 * that the processor can work on both at once; each step is a bijection, so a single changed word
 * always changes the result.
 *
 * @param parts the bytes to check; each part but the last is a multiple of 8 bytes long
 */
export function checksum(parts: readonly Uint8Array[]): number {
  let a = SEED
  let b = parts.reduce((sum, { length }) => sum + length, 0)
  for (const bytes of parts) {
    // Bodies start at any byte; a typed array of 32-bit words cannot.
    const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const whole = bytes.length - (bytes.length % 8)
    for (let at = 0; at < whole; at += 8) {
      a = Math.imul(a ^ words.getUint32(at, true), PRIME)
      b = Math.imul(b ^ words.getUint32(at + 4, true), PRIME)
    }
    for (let at = whole; at < bytes.length; at += 1) a = Math.imul(a ^ (bytes[at] ?? 0), PRIME)
  }
  return (Math.imul(a ^ (a >>> 15), PRIME) ^ b) >>> 0
}

/** What an index's rows are called in notes. */
export type IndexNoun = 'listing' | 'operation'

/**
 * The content of the file; immutable. Rows are numbered in tie order (trust, buyers, id), so the
 * lower row number wins if two scores are equal. First-party rows come last; all counts and
 * averages (rows, document frequencies, lengths, spellings) leave them out.
 */
export interface IndexData extends Columns {
  noun: IndexNoun
  filters: FilterVocabulary
  /** The name of each bit set, in file order: bit sets are found by name. */
  filterValues: readonly string[]
  /** The content's table of words, as JSON text, because most of it is not needed before the first query. */
  searchWords: string
  /** How the organic listings write words, and how many listings write each. */
  spellings: { words: WordTable; rows: Uint32Array }
  /** The number of rows that are not first-party; they come first. */
  organicRows: number
  terms: TermIndex
  exact: ExactTable
  /** The start of each row's body, and the end of the last body. */
  bodyStarts: Uint32Array
  /** Each body's `checksum`, verified when the body is read. */
  bodyChecksums: Uint32Array
}

/** A loaded search index. */
export interface SearchIndex extends IndexData {
  organic: RowRange
  firstParty: RowRange
  /** The position of each filter value's bit set, counted in bit sets. */
  filterPlaces: ReadonlyMap<string, number>
  words: WordSets
  bodies: BodyStore
  /** Whether bodies are verified as they are read: not needed once all have been verified. */
  verifyReads: boolean
}

/** Rows that are ranked together: the organic or the first-party rows. */
export interface RowRange {
  name: RangeName
  start: number
  end: number
}

/** A term as the organic rows know it; only their words decide what is searched for. */
export interface KnownTerm {
  text: string
  /** A word that gave this term, as written; the term itself is a stem. */
  written: string
  /** The term's number, or -1. It may be a term that only first-party rows have. */
  number: number
  /** How many organic rows have the term. */
  rows: number
}

/** Listing bodies that can be read by position: in memory, or in a file. */
export interface BodyStore {
  read(at: number, length: number): Uint8Array
}

/**
 * Loads an index file that is entirely in memory: maps typed arrays onto it and verifies it.
 * @throws SearchIndexError if the file is damaged, cut short, or of another version
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

/** @throws SearchIndexError if the file was cut short, or something was added to it */
export function verifyLength(header: IndexHeader, bytes: number): void {
  const expected = header.headBytes + header.bodyBytes
  if (bytes === expected) return
  throw new SearchIndexError(
    `The search index is damaged: it has ${bytes} bytes instead of ${expected}. Build it again.`,
  )
}

/** How many bodies are verified in one step: some hundred KiB, which takes less than a millisecond. */
const BODIES_AT_A_TIME = 512

/**
 * Reads every body once, in short steps, so that the caller can do other work in between.
 * @throws SearchIndexError at the first damaged body
 */
export function* verifyBodies(index: SearchIndex): Generator<void> {
  for (let row = 0; row < index.firstParty.end; row += 1) {
    readBody(index, row)
    if (row % BODIES_AT_A_TIME === 0) yield
  }
}

/**
 * Like `loadSearchIndex`, for a reader that keeps only the head in memory. Bodies are verified one
 * by one as they are read.
 * @param head the first `headBytes` of the file, at an offset that is a multiple of 8
 * @throws SearchIndexError if the head is damaged
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
 * The file's filters and this program's must be the same: a filter without bit sets would find
 * nothing, and an unknown filter means that the program is older than the file.
 */
function placeBitSets({ filters, filterValues: written }: IndexData): Map<string, number> {
  const known = new Set(filterValues(filters))
  const missing = [...known].find((value) => !written.includes(value))
  const unknown = written.find((value) => !known.has(value))
  if (missing !== undefined || unknown !== undefined)
    throw new SearchIndexError(
      missing === undefined
        ? `The search index has the filter value “${unknown}”, which this program does not know. Build it again.`
        : `The search index lacks the filter value “${missing}”, which this program needs. Build it again.`,
    )
  return new Map(written.map((value, at) => [value, at]))
}

const decoder = new TextDecoder()
const QUOTATION_MARK = 0x22

/** A row's listing id. */
export function readId(index: SearchIndex, row: number): string {
  return decoder.decode(idOf(readBody(index, row)))
}

/** The ASCII bytes of the id with which a body starts. */
export function idOf(body: Uint8Array): Uint8Array {
  return body.subarray(BODY_START.length, body.indexOf(QUOTATION_MARK, BODY_START.length))
}

/** The row for an id, or -1. */
export function findId({ exact }: SearchIndex, id: string): number {
  return findExact(exact, 'id', id)[0] ?? -1
}

/**
 * The prepared bytes of a row's listing summary, valid until the next read; `SearchDocument` says
 * what they lack.
 * @throws SearchIndexError if the bytes do not match their checksum
 */
export function readBody(index: SearchIndex, row: number): Uint8Array {
  const start = index.bodyStarts[row] ?? 0
  const body = index.bodies.read(start, (index.bodyStarts[row + 1] ?? 0) - start)
  if (index.verifyReads) verifyBytes(`body of row ${row}`, body, index.bodyChecksums[row] ?? 0)
  return body
}

type Columns = ReturnType<ReturnType<typeof createColumns>['finish']>['columns']
