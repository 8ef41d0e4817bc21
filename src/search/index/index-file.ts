/**
 * The container of the search index: one file, a head that is read whole and bodies that are read
 * a few at a time.
 *
 * ```
 * 0   8  "WAYPOSTX"
 * 8   4  format version
 * 12  4  bytes of the table (JSON: where each section lies, and the facts of the index)
 * 16  8  bytes of the head: this header, the table and all sections
 * 24  8  bytes of the bodies, which follow the head
 * 32  4  checksum of the head from byte 40; a section of the head has one for each body
 * 36  4  checksum of the header up to here
 * 40  …  table, then sections, each at a multiple of 8 so that typed arrays can lie on it
 * ```
 * All numbers are little-endian; a big-endian machine is refused, as typed arrays follow the machine.
 */
import * as v from 'valibot'
import { checksum } from '../numbers/checksum.ts'

export const INDEX_FORMAT_VERSION = 9
export const INDEX_HEADER_BYTES = 40
const HEADER_CHECKSUM_AT = 36
const MAGIC = 'WAYPOSTX'
const ALIGNMENT = 8

/** The file cannot be used; the message says what is wrong with it and what to do. */
export class SearchIndexError extends Error {
  override name = 'SearchIndexError'
}

export type Section = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array

const TableSchema = v.object({
  facts: v.unknown(),
  sections: v.record(v.string(), v.tuple([v.number(), v.number()])),
})

export interface IndexHeader {
  headBytes: number
  bodyBytes: number
  tableBytes: number
  headChecksum: number
}

/** Writes the head (with `facts` as JSON) and the bodies into one file. */
export function writeIndexFile(
  facts: unknown,
  sections: Record<string, Section>,
  bodies: readonly Uint8Array[],
): Uint8Array {
  const { table, end } = placeSections(facts, sections)
  const bodyBytes = bodies.reduce((sum, body) => sum + body.byteLength, 0)
  const file = new Uint8Array(end + bodyBytes)
  file.set(table.bytes, INDEX_HEADER_BYTES)
  for (const [name, section] of Object.entries(sections)) {
    const [at] = table.places[name] ?? [0]
    file.set(new Uint8Array(section.buffer, section.byteOffset, section.byteLength), at)
  }
  let at = end
  for (const body of bodies) {
    file.set(body, at)
    at += body.byteLength
  }
  writeHeader(file, table.bytes.byteLength, end, bodyBytes)
  return file
}

function placeSections(facts: unknown, sections: Record<string, Section>) {
  const encoder = new TextEncoder()
  // Positions stand in the table whose length they depend on: lay out relative to the table's end.
  const places: Record<string, [number, number]> = {}
  let size = 0
  for (const [name, section] of Object.entries(sections)) {
    places[name] = [size, section.byteLength]
    size = align(size + section.byteLength)
  }
  const bytes = encoder.encode(JSON.stringify({ facts, sections: places }))
  const start = align(INDEX_HEADER_BYTES + bytes.byteLength)
  const absolute = Object.fromEntries(
    Object.entries(places).map(([name, [at, length]]) => [name, [start + at, length] as const]),
  )
  return { table: { bytes, places: absolute }, end: start + size }
}

function align(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}

function writeHeader(file: Uint8Array, tableBytes: number, headBytes: number, bodyBytes: number) {
  const view = new DataView(file.buffer)
  file.set(new TextEncoder().encode(MAGIC), 0)
  view.setUint32(8, INDEX_FORMAT_VERSION, true)
  view.setUint32(12, tableBytes, true)
  view.setFloat64(16, headBytes, true)
  view.setFloat64(24, bodyBytes, true)
  view.setUint32(32, checksum(file.subarray(INDEX_HEADER_BYTES, headBytes)), true)
  view.setUint32(HEADER_CHECKSUM_AT, checksum(file.subarray(0, HEADER_CHECKSUM_AT)), true)
}

/**
 * Reads the header alone, so that a reader of a file knows how much to load.
 * @throws SearchIndexError when this is no search index, a damaged one, or of another version.
 */
export function readIndexHeader(bytes: Uint8Array): IndexHeader {
  if (bytes.byteLength < INDEX_HEADER_BYTES || !startsWithMagic(bytes)) {
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

function startsWithMagic(bytes: Uint8Array): boolean {
  return [...MAGIC].every((letter, at) => bytes[at] === letter.charCodeAt(0))
}

/**
 * @param part what the bytes are, for the message
 * @throws SearchIndexError when `bytes` is not what the checksum was taken of.
 */
export function verifyBytes(part: string, bytes: Uint8Array, expected: number): void {
  const found = checksum(bytes)
  if (found === expected) return
  throw new SearchIndexError(
    `The search index is damaged: its ${part} has checksum ${found.toString(16)}, written was ${expected.toString(16)}. Build it again.`,
  )
}

/** Named, aligned views into the head. */
export interface IndexHead {
  facts: unknown
  bytesOf(name: string): { buffer: ArrayBufferLike; at: number; length: number }
}

export function readIndexHead(head: Uint8Array, header: IndexHeader): IndexHead {
  const end = INDEX_HEADER_BYTES + header.tableBytes
  const text = new TextDecoder().decode(head.subarray(INDEX_HEADER_BYTES, end))
  const table = v.parse(TableSchema, JSON.parse(text))
  const start = align(end)
  return {
    facts: table.facts,
    bytesOf(name) {
      const place = table.sections[name]
      if (place === undefined) throw new SearchIndexError(`The search index lacks ${name}.`)
      return { buffer: head.buffer, at: head.byteOffset + start + place[0], length: place[1] }
    },
  }
}
