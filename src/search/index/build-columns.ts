import { FILTER_ROWS } from '../../domain/search/search-filters.ts'
import { compareBrowsing } from '../../domain/search/search-rank.ts'
import { PRICE_BUCKETS, type PriceBucket } from '../../domain/wire/vocabulary.ts'
import { checksum } from '../numbers/checksum.ts'
import { buildCodedColumn } from '../numbers/coded-column.ts'
import { countingSort } from '../numbers/counting-sort.ts'
import { createLexicon } from '../numbers/lexicon.ts'
import type { Section } from './index-file.ts'
import { bitWords, type FilterVocabulary } from './index-shape.ts'
import type { SearchDocument } from './search-document.ts'
import { toStanding } from './standing.ts'

const MAX_BODY_BYTES = 2 ** 32 - 1
const MILLISECONDS_A_DAY = 86_400_000

/**
 * What a search reads of a row besides its text, one typed array for each.
 * @param documents in the order of ties: a document's place is its row number
 * @param values filter values in the order of their bit sets
 * @param bodies as they lie in the file
 */
export function buildColumns(
  documents: readonly SearchDocument[],
  values: readonly string[],
  bodies: readonly Uint8Array[],
): Record<string, Section> {
  const column = (numberOf: (document: SearchDocument) => number | null) =>
    buildCodedColumn(documents.map((document) => numberOf(document) ?? Number.NaN))
  const [low, high] = [column(({ minUsd }) => minUsd), column(({ maxUsd }) => maxUsd)]
  const added = column((document) => dayOf(document.added))
  return {
    browseOrder: browseOrder(documents),
    standings: Uint8Array.from(documents, ({ trustScore, liveTested }) =>
      toStanding(trustScore, liveTested),
    ),
    minUsdCodes: low.codes,
    minUsd: low.values,
    maxUsdCodes: high.codes,
    maxUsd: high.values,
    addedCodes: added.codes,
    added: added.values,
    filterBits: filterBits(documents, values),
    bodyStarts: startsOf(bodies),
    bodyChecksums: Uint32Array.from(bodies, checksum),
  }
}

/** The day of a calendar date, counted from 1970. */
function dayOf(date: string | null): number | null {
  return date === null ? null : Date.parse(date) / MILLISECONDS_A_DAY
}

/**
 * The rows as `compareBrowsing` orders them. Few rows differ in more than their id, and by id those
 * that don't are in order already: only one of each look is compared.
 */
function browseOrder(documents: readonly SearchDocument[]): Uint32Array {
  const looks = createLexicon()
  const samples: SearchDocument[] = []
  const lookOf = documents.map((document) => {
    const { trustScore, verifiedBuyers, remote, minUsd } = document
    const look = looks.numberOf(`${trustScore} ${verifiedBuyers} ${remote} ${minUsd}`)
    if (look === samples.length) samples.push(document)
    return look
  })
  const ranks = new Uint32Array(samples.length)
  const ranked = [...samples.entries()].sort(([, a], [, b]) => compareBrowsing(a, b))
  ranked.forEach(([look], rank) => {
    ranks[look] = rank
  })
  const keys = Uint32Array.from(lookOf, (look) => ranks[look] ?? 0)
  return countingSort(keys, samples.length).order
}

function filterBits(documents: readonly SearchDocument[], values: readonly string[]): Uint32Array {
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

/** Where each body starts when they lie one behind the other, and where the last one ends. */
function startsOf(bodies: readonly Uint8Array[]): Uint32Array {
  const starts = new Uint32Array(bodies.length + 1)
  let end = 0
  bodies.forEach((body, at) => {
    end += body.byteLength
    if (end > MAX_BODY_BYTES) throw new Error('The listing bodies take more than 4 GiB in all.')
    starts[at + 1] = end
  })
  return starts
}

/** Every value that has a bit set, in the order the bit sets lie in the file. */
export function filterValues(known: FilterVocabulary): string[] {
  return [
    ...FILTER_ROWS.flatMap(([name, filter]) => {
      if (!('values' in filter)) return []
      const values = typeof filter.values === 'string' ? known[filter.values] : filter.values
      return values.map((value) => `${name}:${value}`)
    }),
    ...PRICE_BUCKETS.map((bucket) => `price:${bucket}`),
    'call',
  ]
}

/** The values that hold for a document. */
export function valuesOf(document: SearchDocument): string[] {
  return [
    ...FILTER_ROWS.flatMap(([name, filter]) =>
      'of' in filter ? filter.of(document).map((value) => `${name}:${value}`) : [],
    ),
    `price:${priceBucket(document.minUsd)}`,
    ...(document.call ? ['call'] : []),
  ]
}

function priceBucket(minUsd: number | null): PriceBucket {
  if (minUsd === null) return 'unknown'
  if (minUsd === 0) return 'free'
  if (minUsd < 0.01) return 'lt_0.01'
  if (minUsd < 0.1) return 'lt_0.1'
  return minUsd < 1 ? 'lt_1' : 'ge_1'
}
