/**
 * How a listing body lies in the file: `{"id":"`, the id, the middle and `}}`. The middle, most of
 * it, is raw deflate that ends on a byte, so that compressed responses copy it as it is.
 *
 * ```
 * 0  4  bytes of the body
 * 4  4  CRC-32 of the middle
 * 8  1  bytes of the id
 * 9  …  the id, the middle in deflate blocks, and a last block that holds nothing
 * ```
 */
import { inflateSync } from 'fflate'
import { crc32 } from './crc32.ts'
import { BODY_START } from './search-document.ts'

/**
 * Compresses bytes to raw deflate blocks of which none is marked as the last.
 * @param before what stands before them wherever they are read, to be referred to
 */
export type Deflate = (bytes: Uint8Array, before: Uint8Array) => Uint8Array

/** Every body ends with the closing brackets of `links` and of the summary. */
export const BODY_ENDING = new TextEncoder().encode('}}')
/** A last block that holds nothing, in fixed codes. */
export const LAST_BLOCK = Uint8Array.of(3, 0)
export const BODY_PREFIX = new TextEncoder().encode(BODY_START)

const ID_AT = 9
export const MAX_STORED = 0xffff
export const STORED_HEADER_BYTES = 5

export function packBody(id: string, body: Uint8Array, deflate: Deflate): Uint8Array {
  const idBytes = new TextEncoder().encode(id)
  const start = BODY_PREFIX.length + idBytes.length
  const middle = body.subarray(start, body.length - BODY_ENDING.length)
  const blocks = deflate(middle, body.subarray(0, start))
  const record = new Uint8Array(ID_AT + idBytes.length + blocks.length + LAST_BLOCK.length)
  const view = new DataView(record.buffer)
  view.setUint32(0, body.length, true)
  view.setUint32(4, crc32(middle), true)
  view.setUint8(8, idBytes.length)
  record.set(idBytes, ID_AT)
  record.set(blocks, ID_AT + idBytes.length)
  record.set(LAST_BLOCK, record.length - LAST_BLOCK.length)
  return record
}

/** The body a record holds. */
export function unpackBody(record: Uint8Array): Uint8Array {
  const body = new Uint8Array(numberAt(record, 0))
  const id = idOf(record)
  body.set(BODY_PREFIX)
  body.set(id, BODY_PREFIX.length)
  const start = BODY_PREFIX.length + id.length
  const end = body.length - BODY_ENDING.length
  inflateSync(record.subarray(ID_AT + id.length), {
    out: body.subarray(start, end),
    dictionary: body.subarray(0, start),
  })
  body.set(BODY_ENDING, end)
  return body
}

/** The id's ASCII. */
export function idOf(record: Uint8Array): Uint8Array {
  return record.subarray(ID_AT, ID_AT + (record[ID_AT - 1] ?? 0))
}

/** Where a record holds the id and the blocks of the middle, and the length and CRC-32 of its text. */
export function partsOf(record: Uint8Array) {
  const idBytes = record[ID_AT - 1] ?? 0
  return {
    idAt: ID_AT,
    middleAt: ID_AT + idBytes,
    middleEnd: record.length - LAST_BLOCK.length,
    length: numberAt(record, 0) - BODY_PREFIX.length - idBytes - BODY_ENDING.length,
    crc: numberAt(record, 4),
  }
}

/** Records lie at any byte. */
function numberAt(bytes: Uint8Array, at: number): number {
  const [a, b, c, d] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]
  return ((a ?? 0) | ((b ?? 0) << 8) | ((c ?? 0) << 16) | ((d ?? 0) << 24)) >>> 0
}

/** Deflate that compresses nothing, for who has no compressor at hand. */
export function storedBlocks(bytes: Uint8Array): Uint8Array {
  const headers = Math.ceil(bytes.length / MAX_STORED) * STORED_HEADER_BYTES
  const blocks = new Uint8Array(bytes.length + headers)
  for (let at = 0, to = 0; at < bytes.length; at += MAX_STORED) {
    const length = Math.min(MAX_STORED, bytes.length - at)
    writeStoredHeader(blocks, to, length)
    blocks.set(bytes.subarray(at, at + length), to + STORED_HEADER_BYTES)
    to += STORED_HEADER_BYTES + length
  }
  return blocks
}

/** What stands before a block of at most `MAX_STORED` bytes that are not compressed. */
export function writeStoredHeader(memory: Uint8Array, at: number, length: number): void {
  memory[at] = 0
  memory[at + 1] = length & 0xff
  memory[at + 2] = length >>> 8
  memory[at + 3] = ~length & 0xff
  memory[at + 4] = (~length >>> 8) & 0xff
}
