import { brotliCompressSync, constants, crc32, deflateRawSync, type ZlibOptions } from 'node:zlib'
import type { PartName, SearchIndex } from '../../src/search/index/index-shape.ts'
import type { TakeMemory } from './response-memory.ts'

export type Coding = 'gzip' | 'br'

/** Where bytes lie in a response that are the same in every one: of a listing, or a text. */
export interface BodyPlace {
  part: PartName | 'texts'
  row: number
  start: number
  end: number
}

const KINDS: readonly BodyPlace['part'][] = ['organic', 'firstParty', 'texts']
/** Fast, and ended on a whole byte, so that blocks can be put one behind the other. */
const BLOCK: ZlibOptions = { level: 6, finishFlush: constants.Z_SYNC_FLUSH }
const WHOLE: ZlibOptions = { level: 1, finishFlush: constants.Z_SYNC_FLUSH }
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
/** Blocks that are kept, in bytes: those of some ten thousand listings. */
const KEPT_BYTES = 8 * 1024 * 1024
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)
/** A last block that holds nothing, in fixed codes. */
const LAST_BLOCK = Uint8Array.of(3, 0)
const TRAILER_BYTES = 8
/** What is shorter is written as it is: a block of its own would take longer than it saves. */
const WORTH_DEFLATING = 512
const STORED_HEADER_BYTES = 5
const MAX_STORED = 0xffff

/**
 * Compresses responses. A listing is deflated once, when it is first shown, as blocks that end on a
 * byte; a gzip response is those blocks, what stands between them as it is, and the checksum of it
 * all. Brotli has no such blocks: it is for who takes nothing else.
 */
export function createCompressor() {
  let of: SearchIndex | undefined
  let blocks = new Map<number, Uint8Array>()
  let kept = 0
  const blockOf = (index: SearchIndex, bytes: Uint8Array, { part, row, start, end }: BodyPlace) => {
    if (index !== of || kept > KEPT_BYTES) {
      of = index
      blocks = new Map()
      kept = 0
    }
    const key = row * KINDS.length + KINDS.indexOf(part)
    const known = blocks.get(key)
    if (known !== undefined) return known
    const made = deflateRawSync(bytes.subarray(start, end), BLOCK)
    blocks.set(key, made)
    kept += made.length
    return made
  }
  return (
    coding: Coding,
    response: { index: SearchIndex; bytes: Uint8Array; places: readonly BodyPlace[] },
    take: TakeMemory,
  ): Buffer<ArrayBuffer> => {
    const { index, bytes, places } = response
    if (coding === 'br') {
      const made = brotliCompressSync(bytes, BROTLI)
      return copyTo(take(made.length), made)
    }
    const pieces: Uint8Array[] = [GZIP_HEADER]
    let at = 0
    for (const place of places) {
      addLiteral(pieces, bytes.subarray(at, place.start))
      pieces.push(blockOf(index, bytes, place))
      at = place.end
    }
    addLiteral(pieces, bytes.subarray(at))
    pieces.push(LAST_BLOCK)
    return join(pieces, bytes, take)
  }
}

function addLiteral(pieces: Uint8Array[], bytes: Uint8Array): void {
  if (bytes.length === 0) return
  if (bytes.length > WORTH_DEFLATING || bytes.length > MAX_STORED) {
    pieces.push(deflateRawSync(bytes, WHOLE))
    return
  }
  const header = new Uint8Array(STORED_HEADER_BYTES)
  const view = new DataView(header.buffer)
  view.setUint16(1, bytes.length, true)
  view.setUint16(3, ~bytes.length & MAX_STORED, true)
  pieces.push(header, bytes)
}

function join(
  pieces: readonly Uint8Array[],
  bytes: Uint8Array,
  take: TakeMemory,
): Buffer<ArrayBuffer> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const memory = take(length + TRAILER_BYTES)
  let at = 0
  for (const piece of pieces) {
    memory.set(piece, at)
    at += piece.length
  }
  at = memory.writeUInt32LE(crc32(bytes), at)
  at = memory.writeUInt32LE(bytes.length, at)
  return memory.subarray(0, at)
}

function copyTo(memory: Buffer<ArrayBuffer>, bytes: Uint8Array): Buffer<ArrayBuffer> {
  memory.set(bytes)
  return memory.subarray(0, bytes.length)
}
