import {
  FIELD_WEIGHTS,
  inverseDocumentFrequency,
  type SearchField,
  termSaturation,
} from '../domain/search-rank.ts'
import { ALIAS_MARK } from './index-tokens.ts'

/** What a term weighs in a row, summed over the fields: sorted by term, then row. */
export interface Postings {
  terms: readonly string[]
  /** Where the rows of each term start; one more than there are terms. */
  starts: Uint32Array
  rows: Uint32Array
  impacts: Float32Array
}

/** Document frequencies, lengths and row count of the organic rows: what every score is made with. */
export interface Statistics {
  rows: number
  averageLength: Record<SearchField, number>
  documentFrequency: Record<SearchField, ReadonlyMap<string, number>>
}

interface Entry {
  row: number
  field: SearchField
  frequency: number
}

export interface PostingsBuilder {
  /** Adds one field of one row; rows may come in any order, each field of a row once. */
  add(row: number, field: SearchField, tokens: readonly string[]): void
  statistics(rows: number): Statistics
  /** Scores all that was added with the given statistics. */
  finish(statistics: Statistics): Postings
}

export function createPostingsBuilder(): PostingsBuilder {
  const entries = new Map<string, Entry[]>()
  const lengths: Record<SearchField, number[]> = { name: [], labels: [], summary: [] }
  return {
    add(row, field, tokens) {
      const frequencies = new Map<string, number>()
      let length = 0
      for (const token of tokens) {
        const alias = token.startsWith(ALIAS_MARK)
        const term = alias ? token.slice(ALIAS_MARK.length) : token
        if (!alias) length += 1
        frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
      }
      lengths[field][row] = length
      for (const [term, frequency] of frequencies) {
        const list = entries.get(term)
        if (list === undefined) entries.set(term, [{ row, field, frequency }])
        else list.push({ row, field, frequency })
      }
    },
    statistics: (rows) => ({
      rows,
      averageLength: mapFields((field) => sum(lengths[field]) / Math.max(rows, 1)),
      documentFrequency: mapFields((field) => frequenciesOf(entries, field)),
    }),
    finish: (statistics) => scorePostings(entries, lengths, statistics),
  }
}

function mapFields<T>(value: (field: SearchField) => T): Record<SearchField, T> {
  return { name: value('name'), labels: value('labels'), summary: value('summary') }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function frequenciesOf(entries: Map<string, Entry[]>, field: SearchField): Map<string, number> {
  const frequencies = new Map<string, number>()
  for (const [term, list] of entries) {
    const count = list.filter((entry) => entry.field === field).length
    if (count > 0) frequencies.set(term, count)
  }
  return frequencies
}

function scorePostings(
  entries: Map<string, Entry[]>,
  lengths: Record<SearchField, number[]>,
  statistics: Statistics,
): Postings {
  const terms = [...entries.keys()].sort()
  const starts = new Uint32Array(terms.length + 1)
  const rows: number[] = []
  const impacts: number[] = []
  terms.forEach((term, at) => {
    const byRow = new Map<number, number>()
    for (const { row, field, frequency } of entries.get(term) ?? []) {
      const weight = FIELD_WEIGHTS[field] * termIdf(statistics, field, term)
      const saturation = termSaturation(
        frequency,
        lengths[field][row] ?? 0,
        statistics.averageLength[field],
      )
      byRow.set(row, (byRow.get(row) ?? 0) + weight * saturation)
    }
    for (const row of [...byRow.keys()].sort((a, b) => a - b)) {
      rows.push(row)
      impacts.push(byRow.get(row) ?? 0)
    }
    starts[at + 1] = rows.length
  })
  return { terms, starts, rows: Uint32Array.from(rows), impacts: Float32Array.from(impacts) }
}

function termIdf(statistics: Statistics, field: SearchField, term: string): number {
  const frequency = statistics.documentFrequency[field].get(term) ?? 0
  return inverseDocumentFrequency(statistics.rows, frequency)
}
