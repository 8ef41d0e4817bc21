import { brotliCompressSync, constants, crc32, deflateRawSync, gzipSync } from 'node:zlib'
import {
  LAST_BLOCK,
  middleOf,
  STORED_HEADER_BYTES,
  writeStoredHeader,
} from '../../src/search/index/body-records.ts'
import { readRecord } from '../../src/search/index/index-rows.ts'
import { BODY_START } from '../../src/search/index/search-document.ts'
import { joinCrc32 } from '../../src/search/numbers/crc32.ts'
import { toBytes } from '../http/to-bytes.ts'
import { fullPieces, joinBytes, type SearchResponseInput } from './search-response.ts'

const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)
const TRAILER_BYTES = 8
/** What is shorter is written as it is: a block of its own would take longer than it saves. */
const WORTH_DEFLATING = 512
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
  const { index } = input
  const chunks: Uint8Array[] = [GZIP_HEADER]
  let [text, length, crc] = ['', 0, 0]
  const add = (more: Blocks) => {
    chunks.push(more.blocks)
    crc = joinCrc32(crc, more.crc, more.length)
    length += more.length
  }
  const addText = () => {
    if (text !== '') add(textBlocks(toBytes(text)))
    text = ''
  }
  for (const piece of fullPieces(input)) {
    if (typeof piece === 'string') {
      text += piece
      continue
    }
    if (!(piece instanceof Uint8Array)) text += BODY_START + piece.id
    addText()
    if (piece instanceof Uint8Array) add(blocksOf(piece))
    else {
      const record = readRecord(index, piece.part, piece.row)
      // Where bodies stay in the file, a record is there until the next is read.
      add(middleOf(index.verifyReads ? record.slice() : record))
      text = piece.ending
    }
  }
  addText()
  const trailer = new DataView(new ArrayBuffer(TRAILER_BYTES))
  trailer.setUint32(0, crc, true)
  trailer.setUint32(4, length, true)
  return joinBytes([...chunks, LAST_BLOCK, new Uint8Array(trailer.buffer)])
}

function textBlocks(text: Uint8Array): Blocks {
  const own = { length: text.length, crc: crc32(text) }
  if (text.length > WORTH_DEFLATING) return { ...own, blocks: deflateRawSync(text, FAST) }
  const blocks = new Uint8Array(STORED_HEADER_BYTES + text.length)
  writeStoredHeader(blocks, 0, text.length)
  blocks.set(text, STORED_HEADER_BYTES)
  return { ...own, blocks }
}

function blocksOf(text: Uint8Array): Blocks {
  const known = preparedBlocks.get(text)
  if (known !== undefined) return known
  const made = { blocks: deflateRawSync(text, PREPARED), length: text.length, crc: crc32(text) }
  preparedBlocks.set(text, made)
  return made
}
