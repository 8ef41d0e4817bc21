import type { IndexData } from './index-shape.ts'

/**
 * The container of the search index: one file, a head that is read whole and bodies that are read
 * a few at a time.
 *
 * ```
 * 0   8  "DIRINDEX"
 * 8   4  format version
 * 12  4  bytes of the table: the index as JSON, with a place in the file for each typed array
 * 16  8  bytes of the head: this header, the table and all arrays
 * 24  8  bytes of the bodies, which follow the head
 * 32  4  checksum of the head from byte 40; the index itself has one for each body
 * 36  4  checksum of the header up to here
 * 40  …  table, then arrays, each at a multiple of 8 so that it can be used where it lies
 * ```
 * All numbers are little-endian; a big-endian machine is refused, as typed arrays follow the machine.
 */

const INDEX_FORMAT_VERSION = 18
export const INDEX_HEADER_BYTES = 40
const HEADER_CHECKSUM_AT = 36
const MAGIC = 'DIRINDEX'
const ALIGNMENT = 8

/** The file cannot be used; the message says what is wrong with it and what to do. */
export class SearchIndexError extends Error {
  override name = 'SearchIndexError'
}

/** The kinds of arrays in an index, by their names in the table. */
const ARRAYS = { Uint8Array, Uint16Array, Uint32Array, Float64Array }
type TypedArray = InstanceType<(typeof ARRAYS)[keyof typeof ARRAYS]>

/** The table's entry for an array; positions count from the end of the table. */
interface ArrayPlace {
  array: keyof typeof ARRAYS
  at: number
  length: number
}

export interface IndexHeader {
  headBytes: number
  bodyBytes: number
  tableBytes: number
  headChecksum: number
}

/** Writes an index and the bodies of its listings into one file. */
export function writeIndexFile(
  index: IndexData,
  bodies: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const arrays: { at: number; array: TypedArray }[] = []
  let size = 0
  const text = JSON.stringify(index, (_, value: unknown) => {
    if (!isTypedArray(value)) return value
    const at = size
    arrays.push({ at, array: value })
    size = align(size + value.byteLength)
    return { array: value.constructor.name, at, length: value.length }
  })
  const table = new TextEncoder().encode(text)
  const start = align(INDEX_HEADER_BYTES + table.length)
  const bodyBytes = bodies.reduce((sum, { length }) => sum + length, 0)
  const file = new Uint8Array(start + size + bodyBytes)
  file.set(table, INDEX_HEADER_BYTES)
  for (const { at, array } of arrays)
    file.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), start + at)
  let at = start + size
  for (const body of bodies) {
    file.set(body, at)
    at += body.length
  }
  writeHeader(file, { tableBytes: table.length, headBytes: start + size, bodyBytes })
  return file
}

function isTypedArray(value: unknown): value is TypedArray {
  return Object.values(ARRAYS).some((Kind) => value instanceof Kind)
}

function align(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}

function writeHeader(file: Uint8Array, header: Omit<IndexHeader, 'headChecksum'>): void {
  const view = new DataView(file.buffer)
  file.set(new TextEncoder().encode(MAGIC), 0)
  view.setUint32(8, INDEX_FORMAT_VERSION, true)
  view.setUint32(12, header.tableBytes, true)
  view.setFloat64(16, header.headBytes, true)
  view.setFloat64(24, header.bodyBytes, true)
  view.setUint32(32, checksum(file.subarray(INDEX_HEADER_BYTES, header.headBytes)), true)
  view.setUint32(HEADER_CHECKSUM_AT, checksum(file.subarray(0, HEADER_CHECKSUM_AT)), true)
}

/**
 * Reads the header alone, so that a reader of a file knows how much to load.
 * @throws SearchIndexError when this is not a search index, a damaged one, or of another version.
 */
export function readIndexHeader(bytes: Uint8Array): IndexHeader {
  const magic = new TextDecoder().decode(bytes.subarray(0, MAGIC.length))
  if (bytes.byteLength < INDEX_HEADER_BYTES || magic !== MAGIC) {
    throw new SearchIndexError(
      `This is not a search index: ${bytes.byteLength} bytes that do not start with ${MAGIC}. Build it again.`,
    )
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, INDEX_HEADER_BYTES)
  const version = view.getUint32(8, true)
  if (version !== INDEX_FORMAT_VERSION) {
    throw new SearchIndexError(
      `The search index has format ${version}, this program reads format ${INDEX_FORMAT_VERSION}. Build it again.`,
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
 * @param part name of the bytes, for the message
 * @throws SearchIndexError when `bytes` do not match the checksum.
 */
export function verifyBytes(part: string, bytes: Uint8Array, expected: number): void {
  const found = checksum(bytes)
  if (found === expected) return
  throw new SearchIndexError(
    `The search index is damaged: its ${part} has checksum ${found.toString(16)}, written was ${expected.toString(16)}. Build it again.`,
  )
}

/**
 * The index of a head, with its arrays in place.
 * @throws SearchIndexError when the head was damaged
 */
export function readIndexHead(head: Uint8Array, header: IndexHeader): IndexData {
  verifyBytes('head', head.subarray(INDEX_HEADER_BYTES), header.headChecksum)
  const end = INDEX_HEADER_BYTES + header.tableBytes
  const text = new TextDecoder().decode(head.subarray(INDEX_HEADER_BYTES, end))
  const start = head.byteOffset + align(end)
  // Written by the build of this format just before it computed the checksum.
  return JSON.parse(text, (_, value: unknown) => {
    if (!isPlace(value)) return value
    // The constructors are typed for memory that is not shared, and make arrays on either.
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
 */
export function checksum(bytes: Uint8Array): number {
  const whole = bytes.length >>> 3
  const words = wordsOf(bytes, whole * 2)
  let a = SEED
  let b = bytes.length
  for (let i = 0; i < whole * 2; i += 2) {
    a = Math.imul(a ^ (words[i] ?? 0), PRIME)
    b = Math.imul(b ^ (words[i + 1] ?? 0), PRIME)
  }
  for (let i = whole * 8; i < bytes.length; i += 1) a = Math.imul(a ^ (bytes[i] ?? 0), PRIME)
  return (Math.imul(a ^ (a >>> 15), PRIME) ^ b) >>> 0
}

/** Listing bodies start at any byte: unaligned ones are copied to an aligned buffer. */
function wordsOf(bytes: Uint8Array, length: number): Uint32Array {
  const { buffer, byteOffset } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  return new Uint32Array(buffer, byteOffset, length)
}
