import { brotliCompressSync, constants, crc32, deflateRawSync, gzipSync } from 'node:zlib'
import {
  BODY_PREFIX,
  LAST_BLOCK,
  partsOf,
  STORED_HEADER_BYTES,
  writeStoredHeader,
} from '../../src/search/index/body-records.ts'
import { joinCrc32 } from '../../src/search/index/crc32.ts'
import { readRecord } from '../../src/search/index/index-rows.ts'
import { type SearchResponseInput, startBytes, writeFull } from './search-response.ts'

const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)
const TRAILER_BYTES = 8
/** Stands before a text until its length is known. */
const NO_HEADER = new Uint8Array(STORED_HEADER_BYTES)
/** What is shorter is written as it is: a block of its own would take longer than it saves. */
const WORTH_DEFLATING = 1024
const PREPARED = { level: 9, finishFlush: constants.Z_SYNC_FLUSH }
const FAST = { level: 1, finishFlush: constants.Z_SYNC_FLUSH }
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

/** Deflate blocks, and of the text in them its length and checksum. */
interface Blocks {
  blocks: Uint8Array
  length: number
  crc: number
}

const preparedBlocks = new WeakMap<Uint8Array, Blocks>()

export function compressWhole(coding: 'gzip' | 'br', bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return coding === 'br' ? brotliCompressSync(bytes, BROTLI) : gzipSync(bytes, { level: 1 })
}

/**
 * Puts a gzip response of the full view together without compressing: listings lie in the index as
 * deflate blocks that end on a byte, what stands between them is a few bytes each, and the checksum
 * of it all follows from theirs.
 */
export function writeGzipResponse(input: SearchResponseInput): Uint8Array<ArrayBuffer> {
  const bytes = startBytes()
  let [start, length, crc] = [0, 0, 0]
  const openText = () => {
    start = bytes.length()
    bytes.add(NO_HEADER)
  }
  const closeText = () => {
    const text = bytes.since(start + STORED_HEADER_BYTES)
    length += text.length
    crc = crc32(text, crc)
    if (text.length > 0 && text.length <= WORTH_DEFLATING)
      return writeStoredHeader(bytes.memory(), start, text.length)
    const blocks = text.length === 0 ? text : deflateRawSync(text, FAST)
    bytes.cut(start)
    bytes.add(blocks)
  }
  const countBlocks = (more: Omit<Blocks, 'blocks'>) => {
    crc = joinCrc32(crc, more.crc, more.length)
    length += more.length
  }
  bytes.add(GZIP_HEADER)
  openText()
  writeFull(input, {
    text: bytes.text,
    prepared(text) {
      closeText()
      const more = blocksOf(text)
      bytes.add(more.blocks)
      countBlocks(more)
      openText()
    },
    listing(part, row, link) {
      const record = readRecord(input.index, part, row)
      const parts = partsOf(record)
      const { idAt, middleAt, middleEnd } = parts
      bytes.add(BODY_PREFIX)
      bytes.add(record, idAt, middleAt)
      closeText()
      bytes.add(record, middleAt, middleEnd)
      countBlocks(parts)
      openText()
      bytes.text(link)
      bytes.add(record, idAt, middleAt)
    },
  })
  closeText()
  bytes.add(LAST_BLOCK)
  const trailer = new DataView(new ArrayBuffer(TRAILER_BYTES))
  trailer.setUint32(0, crc, true)
  trailer.setUint32(4, length, true)
  bytes.add(new Uint8Array(trailer.buffer))
  return bytes.take()
}

function blocksOf(text: Uint8Array): Blocks {
  const known = preparedBlocks.get(text)
  if (known !== undefined) return known
  const made = { blocks: deflateRawSync(text, PREPARED), length: text.length, crc: crc32(text) }
  preparedBlocks.set(text, made)
  return made
}
