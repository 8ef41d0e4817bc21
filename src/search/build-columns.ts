import { compareBrowsing } from '../domain/search/search-rank.ts'
import { checksum } from './checksum.ts'
import { buildCodedColumn } from './coded-column.ts'
import { countingSort } from './counting-sort.ts'
import { valuesOf } from './filter-values.ts'
import type { Section } from './index-file.ts'
import { bitWords } from './index-part.ts'
import { createLexicon } from './lexicon.ts'
import type { SearchDocument } from './search-document.ts'
import { toStanding } from './standing.ts'

const MAX_BODY_BYTES = 2 ** 32 - 1

/**
 * What a search reads of a row besides its text, one typed array for each.
 * @param documents in the order of ties: a document's place is its row number
 * @param values filter values in the order of their bit sets
 */
export function buildColumns(
  documents: readonly SearchDocument[],
  values: readonly string[],
): Record<string, Section> {
  const prices = buildCodedColumn(documents.map(({ minUsd }) => minUsd ?? Number.NaN))
  return {
    browseOrder: browseOrder(documents),
    standings: Uint8Array.from(documents, ({ trustScore, liveTested }) =>
      toStanding(trustScore, liveTested),
    ),
    priceCodes: prices.codes,
    prices: prices.values,
    filterBits: filterBits(documents, values),
    bodyStarts: startsOf(documents.map((document) => document.body)),
    bodyChecksums: Uint32Array.from(documents, ({ body }) => checksum(body)),
  }
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
