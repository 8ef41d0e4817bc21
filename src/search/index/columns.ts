import { FILTER_ROWS } from '../../domain/search/search-filters.ts'
import {
  compareBrowsing,
  compareTies,
  type RankFacts,
  rankMultiplier,
} from '../../domain/search/search-rank.ts'
import { largestOf } from '../../domain/wire/json.ts'
import { WARNINGS } from '../../domain/wire/vocabulary.ts'
import type { ReadDocument } from './search-document.ts'

type Facts = ReadDocument['facts']

/** An index's known categories and sources; a filter for any other is the caller's mistake. */
export interface FilterVocabulary {
  categories: readonly string[]
  sources: readonly string[]
  networks: readonly string[]
  tasks: readonly string[]
}

const MILLISECONDS_A_DAY = 86_400_000

/**
 * A row's values that a search reads in addition to its text, one typed array each. For documents
 * that come one by one, only the values that order them are kept; every other value is a number
 * that points to one of the few distinct values.
 */
export function createColumns() {
  const documents: Ordered[] = []
  const numbers = () => createCodes<number>()
  const [minUsd, maxUsd, added, reportedCalls] = [numbers(), numbers(), numbers(), numbers()]
  const [settlements, answered, lastPaid] = [numbers(), numbers(), numbers()]
  const [paid, values] = [createCodes<string>(), createCodes<string>()]
  const vocabulary = createVocabulary()
  const offers: DocumentOffers[] = []
  return {
    add(facts: Facts): void {
      if ((facts.offers?.length ?? 0) > 1)
        offers.push({ document: documents.length, offers: facts.offers ?? [] })
      documents.push(toOrdered(facts))
      minUsd.add(facts.minUsd ?? Number.NaN)
      maxUsd.add(facts.maxUsd ?? facts.minUsd ?? Number.NaN)
      added.add(toDayOrNaN(facts.added))
      reportedCalls.add(facts.reportedCalls ?? Number.NaN)
      settlements.add(facts.settlements ?? Number.NaN)
      answered.add(toDayOrNaN(facts.answered))
      lastPaid.add(toDayOrNaN(facts.lastPaid))
      paid.add(facts.paid ?? '')
      if (values.add(valuesOf(facts).join(SEPARATOR))) vocabulary.add(facts)
    },
    /**
     * @param known values that a filter may name although no document has them
     * @returns the columns, and the documents in row order
     */
    finish(known: FilterVocabulary) {
      const order = sortDocuments(documents)
      const rows = Array.from(order).flatMap((document) => documents[document] ?? [])
      const organicRows = rows.filter(({ firstParty }) => !firstParty).length
      const filters = vocabulary.finish(known)
      const filterNames = filterValues(filters)
      const columns = {
        ...buildOrders(rows, organicRows),
        /** Each row's lowest and highest price, the day on which it was added, and reported calls; NaN for none. */
        minUsd: buildCodedColumn(minUsd, order),
        maxUsd: buildCodedColumn(maxUsd, order),
        added: buildCodedColumn(added, order),
        reportedCalls: buildCodedColumn(reportedCalls, order),
        /** The highest count of settlements by any source. */
        settlements: buildCodedColumn(settlements, order),
        /** The latest day with a good answer, and with a counted payment. */
        answered: buildCodedColumn(answered, order),
        lastPaid: buildCodedColumn(lastPaid, order),
        ...buildPaidTexts(paid, order),
        /** A bit for each row and filter value; a value's 32-bit words are contiguous. */
        filterBits: buildFilterBits(values, { order, names: filterNames }),
        offers: buildOfferTable(offers, { order, names: filterNames }),
      }
      return { order, organicRows, filters, filterValues: filterNames, columns }
    },
  }
}

/** Separates one document's values; no value contains it. */
const SEPARATOR = '\n'

/** The facts that order documents. */
type Ordered = RankFacts & Pick<Facts, 'liveTested' | 'firstParty'>

function toOrdered(facts: Facts): Ordered {
  const { id, trustScore, verifiedBuyers, remote, minUsd, tasks, liveTested, firstParty } = facts
  return { id, trustScore, verifiedBuyers, remote, minUsd, tasks, liveTested, firstParty }
}

/** Organic documents in the order used for ties, then first-party documents in the same order. */
function sortDocuments(documents: readonly Ordered[]): Uint32Array {
  return Uint32Array.from(documents.keys()).sort((a, b) => {
    const [left, right] = [documents[a], documents[b]]
    if (left === undefined || right === undefined) return 0
    return Number(left.firstParty) - Number(right.firstParty) || compareTies(left, right)
  })
}

function buildOrders(rows: readonly Ordered[], organicRows: number) {
  const browseOrder = Uint32Array.from(rows.keys())
  for (const range of [browseOrder.subarray(0, organicRows), browseOrder.subarray(organicRows)])
    range.sort((a, b) => compareRows(rows, a, b))
  const trustMarks = Uint8Array.from(rows, ({ trustScore, liveTested }) =>
    toTrustMark(trustScore, liveTested),
  )
  return {
    /** Rows in the order of a search without words, organic rows first. */
    browseOrder,
    /** Each row's trust and Live-Tested, see `toTrustMark`. */
    trustMarks,
    highestMultiplier: largestOf(new Set(Array.from(trustMarks, multiplierOf)), 1),
  }
}

/** Rows are already in id order, so if two rows are equal, the lower number goes first. */
function compareRows(rows: readonly Ordered[], a: number, b: number): number {
  const [left, right] = [rows[a], rows[b]]
  return left === undefined || right === undefined ? a - b : compareBrowsing(left, right)
}

type Codes<Value> = ReturnType<typeof createCodes<Value>>

/** A value for each document; because few values are distinct, each is kept once. */
function createCodes<Value>() {
  const numbers = new Map<Value, number>()
  const codes = createNumberList()
  return {
    /** @returns whether the value is new */
    add(value: Value): boolean {
      const { size } = numbers
      const number = numbers.get(value) ?? size
      codes.push(number)
      if (number === size) numbers.set(value, size)
      return number === size
    },
    /** The distinct values, by their numbers. */
    values: (): Value[] => [...numbers.keys()],
    /** The number of a document's value. */
    of: codes.get,
  }
}

function createVocabulary() {
  const [categories, sources] = [new Set<string>(), new Set<string>()]
  const [networks, tasks] = [new Set<string>(), new Set<string>()]
  return {
    add(facts: Facts): void {
      for (const value of facts.categories) categories.add(value)
      for (const value of facts.sources) sources.add(value)
      for (const value of facts.networks) networks.add(value)
      for (const value of facts.tasks ?? []) tasks.add(value)
    },
    finish: (known: FilterVocabulary): FilterVocabulary => ({
      categories: [...categories.union(new Set(known.categories))].sort(),
      sources: [...sources.union(new Set(known.sources))].sort(),
      networks: [...networks.union(new Set(known.networks))].sort(),
      tasks: [...tasks.union(new Set(known.tasks))].sort(),
    }),
  }
}

function toDayOrNaN(day: string | null | undefined): number {
  return typeof day === 'string' ? toDay(day) : Number.NaN
}

/** A day as the number of days since 1970. @param day such as 2026-11-26 */
export function toDay(day: string): number {
  return Date.parse(day) / MILLISECONDS_A_DAY
}

/**
 * The rows' texts about payments: the distinct texts, and which of them each row has. Few rows have
 * such a text, and many share it.
 */
function buildPaidTexts(paid: Codes<string>, order: Uint32Array) {
  const texts = paid.values()
  const paidTexts = texts.toSorted()
  const places = texts.map((text) => paidTexts.indexOf(text))
  return { paidTexts, paidCodes: order.map((document) => places[paid.of(document)] ?? 0) }
}

/** The rows, and the filter values in the order of their bit sets. */
interface Filtered {
  order: Uint32Array
  names: readonly string[]
}

function buildFilterBits(values: Codes<string>, { order, names }: Filtered): Uint32Array {
  const words = bitWords(order.length)
  const places = new Map(names.map((name, at) => [name, at * words]))
  const ofCodes = values
    .values()
    .map((held) => held.split(SEPARATOR).map((name) => places.get(name) ?? 0))
  const bits = new Uint32Array(names.length * words)
  order.forEach((document, row) => {
    for (const place of ofCodes[values.of(document)] ?? []) {
      const word = place + (row >>> 5)
      bits[word] = (bits[word] ?? 0) | (1 << (row & 31))
    }
  })
  return bits
}

/** Every filter value that has a bitset of its own, in the order of the index file. */
export function filterValues(known: FilterVocabulary): string[] {
  return [
    ...FILTER_ROWS.flatMap(([name, filter]) => {
      if (!('values' in filter)) return []
      const values = typeof filter.values === 'string' ? known[filter.values] : filter.values
      return values.map((value) => `${name}:${value}`)
    }),
    ...PRICE_BUCKETS.map((bucket) => `price:${bucket}`),
    ...WARNINGS.map((warning) => `warning:${warning}`),
    'call',
    'vouched',
  ]
}

/** The filter values that a document has. */
export function valuesOf(document: Facts): string[] {
  return [
    ...FILTER_ROWS.flatMap(([name, filter]) =>
      'of' in filter ? filter.of(document).map((value) => `${name}:${value}`) : [],
    ),
    `price:${priceBucket(document.minUsd)}`,
    ...(document.warning === undefined ? [] : [`warning:${document.warning}`]),
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

/** How many 32-bit words a bit set over all rows takes. */
export function bitWords(rows: number): number {
  return (rows + 31) >>> 5
}

/**
 * The offers of rows that have several, sorted by row. Bit sets and price column join all of a
 * row's offers, so a row could pass by one offer's rail and another offer's price.
 */
interface OfferTable {
  rows: Uint32Array
  /** Positions of the bit sets for the offer's rail and network; `NO_PLACE` for none. */
  rails: Uint16Array
  networks: Uint16Array
  minUsd: Float64Array
}

const NO_PLACE = 0xffff

/** A document's offers, if it has several. */
interface DocumentOffers {
  document: number
  offers: NonNullable<Facts['offers']>
}

function buildOfferTable(
  several: readonly DocumentOffers[],
  { order, names }: Filtered,
): OfferTable {
  const places = new Map(names.map((name, place) => [name, place]))
  const rowOf = new Map(several.map(({ document }) => [document, 0]))
  order.forEach((document, row) => {
    if (rowOf.has(document)) rowOf.set(document, row)
  })
  const offers = several
    .map(({ document, offers }) => ({ row: rowOf.get(document) ?? 0, offers }))
    .sort((a, b) => a.row - b.row)
    .flatMap(({ row, offers }) => offers.map((offer) => ({ row, ...offer })))
  const placeOf = (value: string) => places.get(value) ?? NO_PLACE
  return {
    rows: Uint32Array.from(offers, ({ row }) => row),
    rails: Uint16Array.from(offers, ({ rail }) => placeOf(`rail:${rail}`)),
    networks: Uint16Array.from(offers, ({ network }) => placeOf(`network:${network}`)),
    minUsd: Float64Array.from(offers, ({ minUsd }) => minUsd),
  }
}

/** What one offer must have to pass. */
interface OfferFilter {
  rail?: number | undefined
  network?: number | undefined
  mostUsd?: number | undefined
}

/** The rows with several offers, none of which passes. */
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
 * What multiplies a row's score, as one byte: the trust score (`NO_TRUST` for none) in the low
 * bits, and above it a bit for Live-Tested.
 */
export const NO_TRUST = 127
const LIVE_TESTED = 128

/** The multiplier of each trust mark. */
const MULTIPLIERS = Float64Array.from({ length: 256 }, (_, trustMark) => {
  const trust = trustMark & NO_TRUST
  return rankMultiplier(trust === NO_TRUST ? null : trust, trustMark >= LIVE_TESTED)
})

function toTrustMark(trustScore: number | null, liveTested: boolean): number {
  return (trustScore ?? NO_TRUST) | (liveTested ? LIVE_TESTED : 0)
}

/** The trust score in a trust mark, `NO_TRUST` for none. */
export function trustOf(trustMark: number): number {
  return trustMark & NO_TRUST
}

export function isLiveTested(trustMark: number): boolean {
  return trustMark >= LIVE_TESTED
}

export function multiplierOf(trustMark: number): number {
  return MULTIPLIERS[trustMark] ?? 1
}

/** A number for each row, if few are distinct: the distinct values, and for each row which of them it has. */
export interface CodedColumn {
  /** For each row, an index into `values`. */
  codes: Uint32Array
  /** The distinct numbers, ascending; NaN comes last. */
  values: Float64Array
}

function buildCodedColumn(numbers: Codes<number>, order: Uint32Array): CodedColumn {
  const known = numbers.values()
  const values = Float64Array.from(known).sort()
  const places = new Map([...values.entries()].map(([place, value]) => [value, place]))
  const placeOf = known.map((value) => places.get(value) ?? 0)
  return { codes: order.map((document) => placeOf[numbers.of(document)] ?? 0), values }
}

export function valueAt({ codes, values }: CodedColumn, row: number): number {
  return values[codes[row] ?? 0] ?? Number.NaN
}

/** The ranges of lowest prices in US dollars that a facet counts. */
const PRICE_BUCKETS = ['free', 'lt_0.01', 'lt_0.1', 'lt_1', 'ge_1', 'unknown'] as const

type PriceBucket = (typeof PRICE_BUCKETS)[number]

/** A growing list of whole numbers below 2^32. */
export function createNumberList() {
  let numbers = allocate(1024)
  let length = 0
  const set = (at: number, number: number) => {
    if (at >= numbers.length) {
      const larger = allocate(Math.max(at + 1, numbers.length * 2))
      larger.set(numbers)
      numbers = larger
    }
    length = Math.max(length, at + 1)
    numbers[at] = number
  }
  return {
    push: (number: number): void => set(length, number),
    /** Sets a number at any position; the list is extended with zeros. */
    set,
    /** The number at a position; 0 if none was set. */
    get: (at: number): number => numbers[at] ?? 0,
    length: (): number => length,
  }
}

/**
 * Zeros for a list that may grow large. The memory is a SharedArrayBuffer although nothing shares
 * it: V8 marks its whole heap again for every 64 MB of ordinary buffers, which with a million
 * documents on the heap took a third of the build.
 */
function allocate(length: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(length * Uint32Array.BYTES_PER_ELEMENT))
}
