import type { SearchField } from '../../domain/search/search-rank.ts'
import type { TermNumbers } from '../words/term-numbers.ts'
import { createNumberList } from './number-list.ts'
import type { ReadDocument } from './read-document.ts'

export type CollectedPostings = ReturnType<ReturnType<typeof createCollector>['finish']>

/**
 * Collects postings: which rows hold each term, and how often. Flat numbers, as a million
 * listings have some sixty million postings; those of a term are a chain from the last to the first.
 * Nothing else is kept of a document.
 */
export function createCollector(terms: TermNumbers) {
  /** By term, the number of its last posting plus one; by posting, the same of the one before. */
  const [last, before] = [createNumberList(), createNumberList()]
  /** By posting: the document, by its place among those that were added, and how often it has the term. */
  const [documents, frequencies] = [createNumberList(), createNumberList()]
  const added: Record<SearchField, number>[] = []
  return {
    add({ words, packed, pairs, lengths }: ReadDocument): void {
      const numbers = words.map(terms.ofWord)
      for (let at = 0; at < pairs.length; at += 2)
        numbers.push(terms.ofPair(numbers[pairs[at] ?? 0] ?? 0, numbers[pairs[at + 1] ?? 0] ?? 0))
      for (const [at, term] of numbers.entries()) {
        before.push(last.get(term))
        documents.push(added.length)
        frequencies.push(packed[at] ?? 0)
        last.set(term, documents.length())
      }
      added.push(lengths)
    },
    /**
     * @param order the positions of the documents among the rows
     * @param organicRows how many of them are not first-party: average lengths are of those
     */
    finish(order: Uint32Array, organicRows: number) {
      const rows = new Uint32Array(order.length)
      for (const [row, place] of order.entries()) rows[place] = row
      const rowOf = (posting: number) => rows[documents.get(posting)] ?? 0
      const lengthsOf = (field: SearchField) =>
        Array.from(order, (place) => added[place]?.[field] ?? 0)
      const lengths = {
        name: lengthsOf('name'),
        labels: lengthsOf('labels'),
        summary: lengthsOf('summary'),
      }
      const mean = (all: readonly number[]) =>
        all.slice(0, organicRows).reduce((sum, length) => sum + length, 0) /
        Math.max(organicRows, 1)
      const averageLength = {
        name: mean(lengths.name),
        labels: mean(lengths.labels),
        summary: mean(lengths.summary),
      }
      return {
        organicRows,
        averageLength,
        lengths,
        /** How many there are. */
        count: documents.length(),
        rowOf,
        /** How often the row holds the term, see `ReadDocument`. */
        packedOf: frequencies.get,
        /** How many organic rows hold a term, counted up to a number. */
        organicOf(term: number, most: number): number {
          let found = 0
          for (let next = last.get(term); next > 0 && found < most; next = before.get(next - 1))
            if (rowOf(next - 1) < organicRows) found += 1
          return found
        },
        /** The numbers of a term's postings, by row. */
        ofTerm(term: number): number[] {
          const found: number[] = []
          for (let next = last.get(term); next > 0; next = before.get(next - 1))
            found.push(next - 1)
          return found.sort((a, b) => rowOf(a) - rowOf(b))
        },
      }
    },
  }
}
