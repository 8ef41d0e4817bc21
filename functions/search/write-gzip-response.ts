import { brotliCompressSync, constants, crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { MAX_ID_LENGTH } from '../../src/domain/listing/listing-id.ts'
import {
  BODY_PREFIX,
  idOf,
  LAST_BLOCK,
  middleOf,
  STORED_HEADER_BYTES,
  writeStoredHeader,
} from '../../src/search/index/body-records.ts'
import { readRecord } from '../../src/search/index/index-rows.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import { joinCrc32 } from '../../src/search/numbers/crc32.ts'
import type { TakeMemory } from './response-memory.ts'
import {
  fullPieces,
  type ListedRows,
  type Piece,
  type SearchResponseInput,
} from './response-pieces.ts'
import { ADDED_BYTES, writeEnding } from './write-listing.ts'

const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)
const TRAILER_BYTES = 8
/** What frames the text, with some to spare where deflate finds nothing to compress. */
const FRAME_BYTES = GZIP_HEADER.length + LAST_BLOCK.length + TRAILER_BYTES + 256
const COMMA = Uint8Array.of(0x2c)
const NOTHING = new Uint8Array(0)
const NO_BLOCKS: Blocks = { blocks: NOTHING, length: 0, crc: 0 }
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

/** A response in the making. */
interface GzipStream {
  memory: Buffer<ArrayBuffer>
  /** Where the block of text that is not compressed starts, and where its next byte goes. */
  open: number
  at: number
  /** Of all text before that block. */
  length: number
  crc: number
}

/** Of texts that are the same in every response. */
const preparedBlocks = new WeakMap<Uint8Array, Blocks>()

export function compressWhole(coding: 'gzip' | 'br', bytes: Uint8Array): Buffer<ArrayBuffer> {
  return coding === 'br' ? brotliCompressSync(bytes, BROTLI) : gzipSync(bytes, { level: 1 })
}

/**
 * Puts a gzip response of the full view together without compressing: listings lie in the index as
 * deflate blocks that end on a byte, what stands between them is a few bytes each, and the checksum
 * of it all follows from theirs.
 */
export function writeGzipResponse(
  input: SearchResponseInput,
  take: TakeMemory,
): Buffer<ArrayBuffer> {
  const pieces = fullPieces(input).map((piece) => toGzipPiece(input.index, piece))
  const memory = take(pieces.reduce((sum, piece) => sum + sizeOf(piece), FRAME_BYTES))
  memory.set(GZIP_HEADER)
  const stream: GzipStream = { memory, open: 0, at: 0, length: 0, crc: 0 }
  openText(stream, GZIP_HEADER.length)
  for (const piece of pieces) {
    if ('records' in piece) addRows(stream, piece)
    else if ('blocks' in piece) addBlocks(stream, piece)
    else addText(stream, piece.bytes)
  }
  closeText(stream)
  memory.set(LAST_BLOCK, stream.open)
  let at = stream.open + LAST_BLOCK.length
  at = memory.writeUInt32LE(stream.crc, at)
  at = memory.writeUInt32LE(stream.length, at)
  return memory.subarray(0, at)
}

type GzipPiece = { bytes: Uint8Array } | Blocks | ListedRecords
interface ListedRecords extends ListedRows {
  records: readonly { id: Uint8Array; middle: Blocks }[]
}

function toGzipPiece(index: SearchIndex, piece: Piece): GzipPiece {
  if ('bytes' in piece) return piece.isPrepared ? blocksOf(piece.bytes) : piece
  const records = piece.rows.map(({ row }) => {
    // Where bodies stay in the file, a record is there until the next is read.
    const read = readRecord(index, piece.part, row)
    const record = index.verifyReads ? read.slice() : read
    return { id: idOf(record), middle: middleOf(record) }
  })
  return { ...piece, records }
}

function blocksOf(text: Uint8Array): Blocks {
  const known = preparedBlocks.get(text)
  if (known !== undefined) return known
  const made = {
    blocks: deflateRawSync(text, PREPARED),
    length: text.length,
    crc: crc32(text),
  }
  preparedBlocks.set(text, made)
  return made
}

/** The most bytes a piece may take. */
function sizeOf(piece: GzipPiece): number {
  if ('bytes' in piece) return piece.bytes.length
  if ('blocks' in piece) return piece.blocks.length + STORED_HEADER_BYTES
  const { records, more } = piece
  let size = 0
  records.forEach(({ middle }, place) => {
    const added = BODY_PREFIX.length + MAX_ID_LENGTH + ADDED_BYTES + (more[place]?.length ?? 0)
    size += middle.blocks.length + STORED_HEADER_BYTES + added
  })
  return size
}

function addRows(stream: GzipStream, piece: ListedRecords): void {
  const { rows, records, searchId, isCounted, source, more } = piece
  for (let place = 0; place < records.length; place += 1) {
    const { id = NOTHING, middle = NO_BLOCKS } = records[place] ?? {}
    if (place > 0) addText(stream, COMMA)
    addText(stream, BODY_PREFIX)
    addText(stream, id)
    addBlocks(stream, middle)
    stream.at = writeEnding(stream.memory, stream.at, {
      id,
      relevance: rows[place]?.relevance ?? 0,
      searchId,
      position: isCounted ? place + 1 : 0,
      source,
      more: more[place] ?? NOTHING,
    })
  }
}

function addText(stream: GzipStream, bytes: Uint8Array): void {
  stream.memory.set(bytes, stream.at)
  stream.at += bytes.length
}

function addBlocks(stream: GzipStream, { blocks, length, crc }: Blocks): void {
  closeText(stream)
  stream.memory.set(blocks, stream.open)
  stream.crc = joinCrc32(stream.crc, crc, length)
  stream.length += length
  openText(stream, stream.open + blocks.length)
}

function openText(stream: GzipStream, at: number): void {
  stream.open = at
  stream.at = at + STORED_HEADER_BYTES
}

/** Ends the text that is not compressed; compresses what is long after all. */
function closeText(stream: GzipStream): void {
  const { memory, open, at } = stream
  const text = memory.subarray(open + STORED_HEADER_BYTES, at)
  if (text.length === 0) return
  stream.crc = crc32(text, stream.crc)
  stream.length += text.length
  if (text.length <= WORTH_DEFLATING) {
    writeStoredHeader(memory, open, text.length)
    openText(stream, at)
    return
  }
  const blocks = deflateRawSync(text, FAST)
  memory.set(blocks, open)
  openText(stream, open + blocks.length)
}
