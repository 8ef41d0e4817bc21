import { FILTER_ROWS } from '../../domain/search/search-filters.ts'
import { compareBrowsing } from '../../domain/search/search-rank.ts'
import { largestOf } from '../../domain/wire/extremes.ts'
import { PRICE_BUCKETS, type PriceBucket } from '../../domain/wire/vocabulary.ts'
import { buildCodedColumn } from './coded-column.ts'
import { bitWords, type FilterVocabulary } from './index-shape.ts'
import { buildOfferTable } from './offer-table.ts'
import type { ReadDocument } from './read-document.ts'
import { multiplierOf, toStanding } from './standing.ts'

type Facts = ReadDocument['facts']

const MILLISECONDS_A_DAY = 86_400_000

/**
 * The values of a row that a search reads besides its text, one typed array for each.
 * @param documents in the order of ties: a document's place is its row number
 * @param values filter values in the order of their bit sets
 */
export function buildColumns(
  documents: readonly Facts[],
  organicRows: number,
  values: readonly string[],
) {
  const column = (numberOf: (document: Facts) => number | null) =>
    buildCodedColumn(documents.map((document) => numberOf(document) ?? Number.NaN))
  const browseOrder = Uint32Array.from(documents.keys())
  for (const range of [browseOrder.subarray(0, organicRows), browseOrder.subarray(organicRows)])
    range.sort((a, b) => compareRows(documents, a, b))
  const standings = Uint8Array.from(documents, ({ trustScore, liveTested }) =>
    toStanding(trustScore, liveTested),
  )
  return {
    browseOrder,
    standings,
    highestMultiplier: largestOf(new Set(Array.from(standings, multiplierOf)), 1),
    minUsd: column(lowestOf),
    maxUsd: column((document) => document.maxUsd ?? lowestOf(document)),
    added: column(({ added }) => (added === null ? null : Date.parse(added) / MILLISECONDS_A_DAY)),
    reportedCalls: column(({ reportedCalls = null }) => reportedCalls),
    filterBits: filterBits(documents, values),
    offers: buildOfferTable(documents, values),
  }
}

/** Rows are already in order of id: of equal ones the lower number goes first. */
function compareRows(documents: readonly Facts[], a: number, b: number): number {
  const [left, right] = [documents[a], documents[b]]
  return left === undefined || right === undefined ? a - b : compareBrowsing(left, right)
}

function filterBits(documents: readonly Facts[], values: readonly string[]): Uint32Array {
  const words = bitWords(documents.length)
  const places = new Map(values.map((value, at) => [value, at * words]))
  const bits = new Uint32Array(values.length * words)
  documents.forEach((document, row) => {
    for (const value of valuesOf(document)) {
      const word = (places.get(value) ?? 0) + (row >>> 5)
      bits[word] = (bits[word] ?? 0) | (1 << (row & 31))
    }
  })
  return bits
}

/** Every value with a bit set, in the order of the bit sets in the file. */
export function filterValues(known: FilterVocabulary): string[] {
  return [
    ...FILTER_ROWS.flatMap(([name, filter]) => {
      if (!('values' in filter)) return []
      const values = typeof filter.values === 'string' ? known[filter.values] : filter.values
      return values.map((value) => `${name}:${value}`)
    }),
    ...PRICE_BUCKETS.map((bucket) => `price:${bucket}`),
    'call',
    'vouched',
  ]
}

/** The values that hold for a document. */
export function valuesOf(document: Facts): string[] {
  return [
    ...FILTER_ROWS.flatMap(([name, filter]) =>
      'of' in filter ? filter.of(document).map((value) => `${name}:${value}`) : [],
    ),
    `price:${priceBucket(lowestOf(document))}`,
    ...(document.call ? ['call'] : []),
    ...(document.vouched === true ? ['vouched'] : []),
  ]
}

/** Operations declared free cost 0. */
function lowestOf({ minUsd, isFree }: Facts): number | null {
  return minUsd ?? (isFree ? 0 : null)
}

function priceBucket(minUsd: number | null): PriceBucket {
  if (minUsd === null) return 'unknown'
  if (minUsd === 0) return 'free'
  if (minUsd < 0.01) return 'lt_0.01'
  if (minUsd < 0.1) return 'lt_0.1'
  return minUsd < 1 ? 'lt_1' : 'ge_1'
}
