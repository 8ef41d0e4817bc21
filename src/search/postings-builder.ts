import { SEARCH_FIELDS, type SearchField } from '../domain/search/search-rank.ts'
import {
  type Collected,
  FREQUENCY_BITS,
  frequencyIn,
  MAX_FREQUENCY,
  type Statistics,
} from './collected-postings.ts'
import { createNumberList, type NumberList } from './number-list.ts'
import type { TermLexicon } from './term-lexicon.ts'
import { isAlias, termOfToken } from './token.ts'
import { type Postings, writePostings } from './write-postings.ts'

export interface PostingsBuilder {
  /** Adds tokens to a field of a row. Rows come in ascending order; a field may come in pieces. */
  add(row: number, field: SearchField, tokens: readonly number[]): void
  statistics(): Statistics
  /** Scores all that was added, with these statistics or its own. */
  finish(statistics?: Statistics): Postings
}

/** The row at work: how often it holds each term, packed as in `Collected`. */
interface CurrentRow {
  frequencies: NumberList
  terms: number[]
}

/** @param lexicon what the terms of the tokens are called */
export function createPostingsBuilder(lexicon: TermLexicon): PostingsBuilder {
  const collected: Collected = {
    lexicon,
    termOf: createNumberList(),
    rowOf: createNumberList(),
    frequenciesOf: createNumberList(),
    lengths: { name: [], labels: [], summary: [] },
    rows: 0,
  }
  const current: CurrentRow = { frequencies: createNumberList(), terms: [] }
  const flush = () => {
    for (const term of current.terms) {
      collected.termOf.push(term)
      collected.rowOf.push(collected.rows - 1)
      collected.frequenciesOf.push(current.frequencies.get(term))
      current.frequencies.set(term, 0)
    }
    current.terms = []
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
      return writePostings(collected, statistics)
    },
  }
}

/** Counts tokens into the row at work; returns how many of them count as length. */
function countTokens(
  { frequencies, terms }: CurrentRow,
  field: SearchField,
  tokens: readonly number[],
): number {
  const shift = SEARCH_FIELDS.indexOf(field) * FREQUENCY_BITS
  let length = 0
  for (const token of tokens) {
    const term = termOfToken(token)
    if (!isAlias(token)) length += 1
    const packed = frequencies.get(term)
    if (packed === 0) terms.push(term)
    if (frequencyIn(packed, shift) === MAX_FREQUENCY) continue
    frequencies.set(term, packed + (1 << shift))
  }
  return length
}

function toStatistics(collected: Collected): Statistics {
  const { lengths, rows } = collected
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
    documentFrequency: (field, term) => frequencies[field][term] ?? 0,
  }
}

function documentFrequencies(collected: Collected): Record<SearchField, Uint32Array> {
  const terms = collected.termOf.values()
  const packed = collected.frequenciesOf.values()
  const count = (field: SearchField) => {
    const counts = new Uint32Array(collected.lexicon.size())
    const shift = SEARCH_FIELDS.indexOf(field) * FREQUENCY_BITS
    for (let at = 0; at < terms.length; at += 1) {
      const term = terms[at] ?? 0
      if (frequencyIn(packed[at] ?? 0, shift) > 0) counts[term] = (counts[term] ?? 0) + 1
    }
    return counts
  }
  return { name: count('name'), labels: count('labels'), summary: count('summary') }
}
