import { AUTH_TYPES, type AuthType, RAILS } from '../../src/domain/wire/vocabulary.ts'
import { BODY_ENDING, BODY_PREFIX } from '../../src/search/index/body-records.ts'
import { readBody } from '../../src/search/index/index-rows.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import { SUMMARY_END } from '../../src/search/index/search-document.ts'
import { NO_TRUST, trustOf } from '../../src/search/index/standing.ts'
import { valueAt } from '../../src/search/numbers/coded-column.ts'
import { hasValue } from '../../src/search/query/filter-rows.ts'
import { toBytes } from '../http/to-bytes.ts'
import { type TakeMemory, takeFreshMemory } from './response-memory.ts'
import {
  compactFrame,
  fullPieces,
  type ListedRows,
  type Piece,
  type SearchResponseInput,
} from './response-pieces.ts'
import { ADDED_BYTES, writeEnding } from './write-listing.ts'

/** The most bytes a row has behind its summary, but for what was asked for beside it. */
const MAX_SUFFIX_BYTES = 256

const NEXT_MEMBER = toBytes(SUMMARY_END)

const COMMA = 0x2c
const QUOTATION_MARK = 0x22
const NOTHING = new Uint8Array(0)

/**
 * Puts a response together from the listings' prepared bytes.
 *
 * @param take where the body's memory comes from
 */
export function writeSearchResponse(
  input: SearchResponseInput,
  take: TakeMemory = takeFreshMemory,
): Buffer<ArrayBuffer> {
  return input.query.view === 'compact' ? writeCompact(input, take) : writeFull(input, take)
}

function writeFull(input: SearchResponseInput, take: TakeMemory): Buffer<ArrayBuffer> {
  const { index } = input
  const pieces = fullPieces(input)
  const bodies = pieces.map((piece) => ('bytes' in piece ? [] : bodiesOf(index, piece)))
  const memory = take(sizeOf(pieces, bodies))
  let at = 0
  pieces.forEach((piece, number) => {
    if ('bytes' in piece) {
      memory.set(piece.bytes, at)
      at += piece.bytes.length
    } else at = writeRows(memory, at, piece, bodies[number] ?? [])
  })
  return memory.subarray(0, at)
}

function bodiesOf(index: SearchIndex, { part, rows }: ListedRows): Uint8Array[] {
  return rows.map(({ row }) => readBody(index, part, row))
}

/** The most bytes the pieces may take. */
function sizeOf(pieces: readonly Piece[], bodies: readonly (readonly Uint8Array[])[]): number {
  let size = 0
  for (const piece of pieces) size += 'bytes' in piece ? piece.bytes.length : sizeOfAll(piece.more)
  for (const listed of bodies) size += sizeOfAll(listed) + listed.length * ADDED_BYTES
  return size
}

function sizeOfAll(pieces: readonly Uint8Array[]): number {
  let size = 0
  for (const { length } of pieces) size += length
  return size
}

function writeRows(
  memory: Uint8Array,
  start: number,
  { rows, searchId, isCounted, source, more }: ListedRows,
  bodies: readonly Uint8Array[],
): number {
  let at = start
  for (let place = 0; place < rows.length; place += 1) {
    const body = bodies[place] ?? NOTHING
    if (place > 0) {
      memory[at] = COMMA
      at += 1
    }
    memory.set(body, at)
    at = writeEnding(memory, at + body.length - BODY_ENDING.length, {
      id: idIn(body),
      relevance: rows[place]?.relevance ?? 0,
      searchId,
      position: isCounted ? place + 1 : 0,
      source,
      more: more[place] ?? NOTHING,
    })
  }
  return at
}

/** The id a body starts with: ids are ASCII and need no escaping in JSON. */
function idIn(body: Uint8Array): Uint8Array {
  return body.subarray(BODY_PREFIX.length, body.indexOf(QUOTATION_MARK, BODY_PREFIX.length))
}

function writeCompact(input: SearchResponseInput, take: TakeMemory): Buffer<ArrayBuffer> {
  const { index, outcome } = input
  const { rows } = outcome.organic
  const { start, more, end } = compactFrame(input)
  const bodies = rows.map(({ row }) => readBody(index, 'organic', row))
  const rowBytes = sizeOfAll(bodies) + sizeOfAll(more) + rows.length * MAX_SUFFIX_BYTES
  const memory = take(start.length + rowBytes + end.length)
  memory.set(start)
  let at = start.length
  rows.forEach(({ row }, place) => {
    if (place > 0) {
      memory[at] = COMMA
      at += 1
    }
    const listing = { index, row, body: bodies[place] ?? NOTHING, more: more[place] ?? NOTHING }
    at = writeCompactListing(memory, at, listing)
  })
  memory.set(end, at)
  return memory.subarray(0, at + end.length)
}

interface CompactListing {
  index: SearchIndex
  row: number
  /** The row's prepared bytes. */
  body: Uint8Array
  more: Uint8Array
}

/**
 * A row of the compact view: the first members of the prepared body as they are (id, name, kind,
 * summary), and what the index knows in columns.
 *
 * @returns where the next byte goes
 */
function writeCompactListing(
  memory: Buffer<ArrayBuffer>,
  start: number,
  { index, row, body, more }: CompactListing,
): number {
  const end = Buffer.from(body.buffer, body.byteOffset, body.length).indexOf(NEXT_MEMBER)
  memory.set(body.subarray(0, end), start)
  let at = start + end
  at += memory.write(suffixOf(index, row), at, 'latin1')
  memory.set(more, at)
  at += more.length
  return at + memory.write('}', at, 'latin1')
}

function suffixOf(index: SearchIndex, row: number): string {
  const { minUsd, maxUsd, standings } = index.organic
  const [low, high] = [valueAt(minUsd, row), valueAt(maxUsd, row)]
  const price = Number.isNaN(low) ? 'null' : `{"min_usd":${low},"max_usd":${high}}`
  const rails = RAILS.filter((rail) => holds(index, `rail:${rail}`, row))
  const auth = AUTH_TYPES.find((type) => holds(index, `auth:${type}`, row))
  const trust = trustOf(standings[row] ?? NO_TRUST)
  return [
    `,"price":${price},"rails":${JSON.stringify(rails)},"auth":"${auth ?? ('unknown' satisfies AuthType)}"`,
    trust === NO_TRUST
      ? ',"trust":null'
      : `,"trust":${trust},"vouched":${holds(index, 'vouched', row)}`,
    `,"call":${holds(index, 'call', row)}`,
  ].join('')
}

function holds({ organic, filterPlaces }: SearchIndex, value: string, row: number): boolean {
  return hasValue(organic, filterPlaces.get(value) ?? 0, row)
}
