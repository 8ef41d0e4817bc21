import {
  FIELD_WEIGHTS,
  inverseDocumentFrequency,
  SEARCH_FIELDS,
  type SearchField,
  termSaturation,
} from '../domain/search-rank.ts'
import { ALIAS_MARK } from './index-tokens.ts'
import { createNumberList } from './number-list.ts'

/** What a term weighs in a row, summed over the fields: sorted by term, then row. */
export interface Postings {
  terms: readonly string[]
  /** Where the rows of each term start; one more than there are terms. */
  starts: Uint32Array
  rows: Uint32Array
  impacts: Float32Array
}

/** Row count, lengths and document frequencies of the organic rows: every score is made of them. */
export interface Statistics {
  rows: number
  averageLength: Record<SearchField, number>
  documentFrequency(field: SearchField, term: string): number
}

export interface PostingsBuilder {
  /** Adds tokens to a field of a row. Rows come in ascending order; a field may come in pieces. */
  add(row: number, field: SearchField, tokens: readonly string[]): void
  statistics(): Statistics
  /** Scores all that was added, with these statistics or its own. */
  finish(statistics?: Statistics): Postings
}

/** A frequency above this is cut: BM25 has long been flat by then. */
const MAX_FREQUENCY = 255
const FREQUENCY_BITS = 8

/** What was added, as flat numbers: a million listings have some thirty million of each. */
interface Collected {
  numbers: Map<string, number>
  termOf: ReturnType<typeof createNumberList>
  rowOf: ReturnType<typeof createNumberList>
  /** Eight bits for each field, in the order of `SEARCH_FIELDS`. */
  frequenciesOf: ReturnType<typeof createNumberList>
  lengths: Record<SearchField, number[]>
  rows: number
}

export function createPostingsBuilder(): PostingsBuilder {
  const collected: Collected = {
    numbers: new Map(),
    termOf: createNumberList(),
    rowOf: createNumberList(),
    frequenciesOf: createNumberList(),
    lengths: { name: [], labels: [], summary: [] },
    rows: 0,
  }
  const current = new Map<string, number>()
  const flush = () => {
    for (const [term, frequencies] of current) addPosting(collected, term, frequencies)
    current.clear()
  }
  const own = () => {
    flush()
    return toStatistics(collected)
  }
  return {
    add(row, field, tokens) {
      if (row >= collected.rows) {
        flush()
        collected.rows = row + 1
      }
      const length = countTokens(current, field, tokens)
      const lengths = collected.lengths[field]
      lengths[row] = (lengths[row] ?? 0) + length
    },
    statistics: own,
    finish: (statistics = own()) => {
      flush()
      return scorePostings(collected, statistics)
    },
  }
}

/** Counts tokens into the row at work; returns how many of them count as length. */
function countTokens(
  current: Map<string, number>,
  field: SearchField,
  tokens: readonly string[],
): number {
  const shift = SEARCH_FIELDS.indexOf(field) * FREQUENCY_BITS
  let length = 0
  for (const token of tokens) {
    const alias = token.startsWith(ALIAS_MARK)
    const term = alias ? token.slice(ALIAS_MARK.length) : token
    if (!alias) length += 1
    const frequencies = current.get(term) ?? 0
    if (frequencyIn(frequencies, shift) === MAX_FREQUENCY) continue
    current.set(term, frequencies + (1 << shift))
  }
  return length
}

function frequencyIn(frequencies: number, shift: number): number {
  return (frequencies >>> shift) & MAX_FREQUENCY
}

function addPosting(collected: Collected, term: string, frequencies: number): void {
  const { numbers } = collected
  let number = numbers.get(term)
  if (number === undefined) {
    number = numbers.size
    numbers.set(term, number)
  }
  collected.termOf.push(number)
  collected.rowOf.push(collected.rows - 1)
  collected.frequenciesOf.push(frequencies)
}

function toStatistics(collected: Collected): Statistics {
  const { numbers, lengths, rows } = collected
  const frequencies = documentFrequencies(collected)
  const average = (field: SearchField) =>
    lengths[field].reduce((sum, length) => sum + length, 0) / Math.max(rows, 1)
  return {
    rows,
    averageLength: {
      name: average('name'),
      labels: average('labels'),
      summary: average('summary'),
    },
    documentFrequency(field, term) {
      const number = numbers.get(term)
      return number === undefined ? 0 : (frequencies[field][number] ?? 0)
    },
  }
}

function documentFrequencies(collected: Collected): Record<SearchField, Uint32Array> {
  const terms = collected.termOf.values()
  const packed = collected.frequenciesOf.values()
  const count = (field: SearchField) => {
    const counts = new Uint32Array(collected.numbers.size)
    const shift = SEARCH_FIELDS.indexOf(field) * FREQUENCY_BITS
    for (let at = 0; at < terms.length; at += 1) {
      const term = terms[at] ?? 0
      if (frequencyIn(packed[at] ?? 0, shift) > 0) counts[term] = (counts[term] ?? 0) + 1
    }
    return counts
  }
  return { name: count('name'), labels: count('labels'), summary: count('summary') }
}

/** Counting sort by term keeps the rows ascending, as they were added. */
function scorePostings(collected: Collected, statistics: Statistics): Postings {
  const terms = [...collected.numbers.keys()].sort()
  const places = new Uint32Array(terms.length)
  const weights = terms.map((term, at) => {
    places[collected.numbers.get(term) ?? 0] = at
    return SEARCH_FIELDS.map((field) => termWeight(statistics, field, term))
  })
  const termOf = collected.termOf.values()
  const starts = new Uint32Array(terms.length + 1)
  for (const term of termOf)
    starts[(places[term] ?? 0) + 1] = (starts[(places[term] ?? 0) + 1] ?? 0) + 1
  for (let at = 0; at < terms.length; at += 1)
    starts[at + 1] = (starts[at + 1] ?? 0) + (starts[at] ?? 0)
  const next = starts.slice()
  const rows = new Uint32Array(termOf.length)
  const impacts = new Float32Array(termOf.length)
  const rowOf = collected.rowOf.values()
  const packed = collected.frequenciesOf.values()
  for (let from = 0; from < termOf.length; from += 1) {
    const place = places[termOf[from] ?? 0] ?? 0
    const to = next[place] ?? 0
    next[place] = to + 1
    const row = rowOf[from] ?? 0
    rows[to] = row
    impacts[to] = impactOf(collected, statistics, row, packed[from] ?? 0, weights[place] ?? [])
  }
  return { terms, starts, rows, impacts }
}

/** Field weight × idf: what a term's saturation is multiplied with. */
function termWeight(statistics: Statistics, field: SearchField, term: string): number {
  const frequency = statistics.documentFrequency(field, term)
  return FIELD_WEIGHTS[field] * inverseDocumentFrequency(statistics.rows, frequency)
}

function impactOf(
  { lengths }: Collected,
  { averageLength }: Statistics,
  row: number,
  frequencies: number,
  weights: readonly number[],
): number {
  let impact = 0
  for (const [at, field] of SEARCH_FIELDS.entries()) {
    const frequency = frequencyIn(frequencies, at * FREQUENCY_BITS)
    if (frequency === 0) continue
    const length = lengths[field][row] ?? 0
    impact += (weights[at] ?? 0) * termSaturation(frequency, length, averageLength[field])
  }
  return impact
}
