import { AUTH_TYPES, type AuthType, RAILS } from '../../src/domain/wire/vocabulary.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import { SUMMARY_END } from '../../src/search/index/search-document.ts'
import { NO_TRUST, trustOf } from '../../src/search/index/standing.ts'
import { valueAt } from '../../src/search/numbers/coded-column.ts'
import { toBytes } from '../http/to-bytes.ts'

/** The most bytes a row has behind its summary, but for what was asked for beside it. */
export const MAX_SUFFIX_BYTES = 256
const NEXT_MEMBER = toBytes(SUMMARY_END)

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
export function writeCompactListing(
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
  const place = filterPlaces.get(value) ?? 0
  const words = (organic.rows + 31) >>> 5
  const word = organic.filterBits[place * words + (row >>> 5)] ?? 0
  return ((word >>> (row & 31)) & 1) === 1
}
