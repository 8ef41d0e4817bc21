import { FILTER_ROWS } from '../../domain/search/search-filters.ts'
import { compareBrowsing, rankMultiplier } from '../../domain/search/search-rank.ts'
import { largestOf } from '../../domain/wire/json.ts'
import type { ReadDocument, SearchDocument } from './search-document.ts'

type Facts = ReadDocument['facts']

/** The known categories and sources of an index; a filter for any other is a caller's mistake. */
export interface FilterVocabulary {
  categories: readonly string[]
  sources: readonly string[]
  networks: readonly string[]
  tasks: readonly string[]
}

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
  const trustMarks = Uint8Array.from(documents, ({ trustScore, liveTested }) =>
    toTrustMark(trustScore, liveTested),
  )
  return {
    /** Rows in the order of a search without words, first the organic ones. */
    browseOrder,
    /** Trust and Live-Tested of each row, see `toTrustMark`. */
    trustMarks,
    highestMultiplier: largestOf(new Set(Array.from(trustMarks, multiplierOf)), 1),
    /** Lowest and highest price of each row, the day it was added, and reported calls; NaN for none. */
    minUsd: column(({ minUsd }) => minUsd),
    maxUsd: column(({ minUsd, maxUsd }) => maxUsd ?? minUsd),
    added: column(({ added }) => toDayOrNull(added)),
    reportedCalls: column(({ reportedCalls = null }) => reportedCalls),
    /** The most settlements that anybody counts. */
    settlements: column(({ settlements = null }) => settlements),
    /** The newest day of a good answer, and of a counted payment. */
    answered: column(({ answered = null }) => toDayOrNull(answered)),
    lastPaid: column(({ lastPaid = null }) => toDayOrNull(lastPaid)),
    ...buildPaidTexts(documents),
    /** A bit for each row and filter value; the words of a value lie together. */
    filterBits: filterBits(documents, values),
    offers: buildOfferTable(documents, values),
  }
}

export type Columns = ReturnType<typeof buildColumns>

function toDayOrNull(day: string | null): number | null {
  return day === null ? null : toDay(day)
}

/** A day as a number. @param day such as 2026-11-26 */
export function toDay(day: string): number {
  return Date.parse(day) / MILLISECONDS_A_DAY
}

/** What rows say of payments, the texts and which of them each row has: few do, and many the same. */
function buildPaidTexts(documents: readonly Facts[]) {
  const paidTexts = [...new Set(documents.map(({ paid = '' }) => paid))].sort()
  const places = new Map(paidTexts.map((text, place) => [text, place]))
  const paidCodes = Uint32Array.from(documents, ({ paid = '' }) => places.get(paid) ?? 0)
  return { paidTexts, paidCodes }
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
    `price:${priceBucket(document.minUsd)}`,
    ...(document.call ? ['call'] : []),
    ...(document.vouched === true ? ['vouched'] : []),
  ]
}

function priceBucket(minUsd: number | null): PriceBucket {
  if (minUsd === null) return 'unknown'
  if (minUsd === 0) return 'free'
  if (minUsd < 0.01) return 'lt_0.01'
  if (minUsd < 0.1) return 'lt_0.1'
  return minUsd < 1 ? 'lt_1' : 'ge_1'
}

/** 32-bit words a bit set over all rows takes. */
export function bitWords(rows: number): number {
  return (rows + 31) >>> 5
}

/**
 * The offers of rows that have several, sorted by row. The bit sets and the price column cover all
 * offers of a row together; with several offers one may pass by its rail and another by its price.
 */
interface OfferTable {
  rows: Uint32Array
  /** Positions of the bit sets of its rail and its network; `NO_PLACE` for none. */
  rails: Uint16Array
  networks: Uint16Array
  minUsd: Float64Array
}

const NO_PLACE = 0xffff

/** @param values filter values in the order of their bit sets */
function buildOfferTable(
  documents: readonly Pick<SearchDocument, 'offers'>[],
  values: readonly string[],
): OfferTable {
  const places = new Map(values.map((value, place) => [value, place]))
  const offers = documents.flatMap(({ offers = [] }, row) =>
    offers.length < 2 ? [] : offers.map((offer) => ({ row, ...offer })),
  )
  const placeOf = (value: string) => places.get(value) ?? NO_PLACE
  return {
    rows: Uint32Array.from(offers, ({ row }) => row),
    rails: Uint16Array.from(offers, ({ rail }) => placeOf(`rail:${rail}`)),
    networks: Uint16Array.from(offers, ({ network }) => placeOf(`network:${network}`)),
    minUsd: Float64Array.from(offers, ({ minUsd }) => minUsd),
  }
}

/** What one offer must have. */
interface OfferFilter {
  rail?: number | undefined
  network?: number | undefined
  mostUsd?: number | undefined
}

/** The rows with several offers of which none passes. */
export function findUnsold(table: OfferTable, { rail, network, mostUsd }: OfferFilter): number[] {
  const { rows, rails, networks, minUsd } = table
  const unsold: number[] = []
  let isSold = false
  rows.forEach((row, at) => {
    isSold ||=
      (rail === undefined || rails[at] === rail) &&
      (network === undefined || networks[at] === network) &&
      (mostUsd === undefined || (minUsd[at] ?? 0) <= mostUsd)
    if (rows[at + 1] === row) return
    if (!isSold) unsold.push(row)
    isSold = false
  })
  return unsold
}

/**
 * The multiplier of a row's score, as one byte: the trust score (`NO_TRUST` for none), and above it
 * a bit for Live-Tested.
 */
export const NO_TRUST = 127
const LIVE_TESTED = 128

/** The multiplier of each standing. */
const MULTIPLIERS = Float64Array.from({ length: 256 }, (_, trustMark) => {
  const trust = trustMark & NO_TRUST
  return rankMultiplier(trust === NO_TRUST ? null : trust, trustMark >= LIVE_TESTED)
})

function toTrustMark(trustScore: number | null, liveTested: boolean): number {
  return (trustScore ?? NO_TRUST) | (liveTested ? LIVE_TESTED : 0)
}

/** The trust score of a standing, `NO_TRUST` for none. */
export function trustOf(trustMark: number): number {
  return trustMark & NO_TRUST
}

export function isLiveTested(trustMark: number): boolean {
  return trustMark >= LIVE_TESTED
}

export function multiplierOf(trustMark: number): number {
  return MULTIPLIERS[trustMark] ?? 1
}

/** A number for each row, for few distinct values: the values, and which of them each row has. */
export interface CodedColumn {
  /** Indexes into `values`. */
  codes: Uint32Array
  /** The distinct numbers, ascending; NaN comes last. */
  values: Float64Array
}

function buildCodedColumn(numbers: readonly number[]): CodedColumn {
  const values = Float64Array.from(new Set(numbers)).sort()
  const places = new Map([...values.entries()].map(([place, value]) => [value, place]))
  const codes = Uint32Array.from(numbers, (number) => places.get(number) ?? 0)
  return { codes, values }
}

export function valueAt({ codes, values }: CodedColumn, row: number): number {
  return values[codes[row] ?? 0] ?? Number.NaN
}

/** How many of the distinct numbers are at most this one: a row qualifies if its code is below. */
export function countUpTo({ values }: CodedColumn, most: number): number {
  let count = 0
  while (count < values.length && (values[count] ?? Number.NaN) <= most) count += 1
  return count
}

/** Lowest prices in US dollars, as a facet counts them. */
const PRICE_BUCKETS = ['free', 'lt_0.01', 'lt_0.1', 'lt_1', 'ge_1', 'unknown'] as const

type PriceBucket = (typeof PRICE_BUCKETS)[number]
