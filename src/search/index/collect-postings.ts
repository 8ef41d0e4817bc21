import { SEARCH_FIELDS, type SearchField } from '../../domain/search/search-rank.ts'
import type { TermNumbers } from '../words/term-numbers.ts'
import { createNumberList } from './number-list.ts'
import type { ReadDocument } from './read-document.ts'

/** Row count and lengths of the organic rows: with document frequencies all that scores are made of. */
export interface Statistics {
  rows: number
  averageLength: Record<SearchField, number>
}

export type CollectedPostings = ReturnType<typeof collectPostings>

/**
 * The postings of a part: which rows hold each term, and how often. Flat numbers, as a million
 * listings have some sixty million postings; those of a term are a chain from the last to the first.
 *
 * @param terms numbered alike in all parts of an index
 */
export function collectPostings(documents: readonly ReadDocument[], terms: TermNumbers) {
  /** By term, the number of its last posting plus one; by posting, the same of the one before. */
  const [last, before] = [createNumberList(), createNumberList()]
  const [rows, frequencies] = [createNumberList(), createNumberList()]
  const lengths: Record<SearchField, number[]> = { name: [], labels: [], summary: [] }
  for (const [row, document] of documents.entries()) {
    const { words, packed, pairs } = document
    const numbers = words.map(terms.ofWord)
    for (let at = 0; at < pairs.length; at += 2)
      numbers.push(terms.ofPair(numbers[pairs[at] ?? 0] ?? 0, numbers[pairs[at + 1] ?? 0] ?? 0))
    for (const [at, term] of numbers.entries()) {
      before.push(last.get(term))
      rows.push(row)
      frequencies.push(packed[at] ?? 0)
      last.set(term, rows.length())
    }
    for (const field of SEARCH_FIELDS) lengths[field].push(document.lengths[field])
  }
  const mean = (all: readonly number[]) =>
    all.reduce((sum, length) => sum + length, 0) / Math.max(all.length, 1)
  const averageLength = {
    name: mean(lengths.name),
    labels: mean(lengths.labels),
    summary: mean(lengths.summary),
  }
  return {
    statistics: { rows: documents.length, averageLength },
    lengths,
    rowOf: rows.get,
    /** How often the row holds the term, see `ReadDocument`. */
    packedOf: frequencies.get,
    /** Whether so many rows hold a term: one, or two. */
    isHeld: (term: number, least: 1 | 2) =>
      last.get(term) > 0 && (least === 1 || before.get(last.get(term) - 1) > 0),
    /** The numbers of a term's postings, by row. */
    ofTerm(term: number): number[] {
      const found: number[] = []
      for (let next = last.get(term); next > 0; next = before.get(next - 1)) found.push(next - 1)
      return found.reverse()
    },
  }
}
