import { SEARCH_FIELDS, type SearchField } from '../../domain/search/search-rank.ts'
import type { createListingReader } from '../words/read-listings.ts'
import type { TermNumbers } from '../words/term-numbers.ts'
import { createNumberList, wholeNumbers } from './number-list.ts'
import { documentFields, type SearchDocument } from './search-document.ts'

/** What listings are read with: their terms are numbered alike in all parts of an index. */
export interface ReadWith {
  reader: ReturnType<typeof createListingReader>
  terms: TermNumbers
}

/** Row count and lengths of the organic rows: with document frequencies all that scores are made of. */
export interface Statistics {
  rows: number
  averageLength: Record<SearchField, number>
}

export type CollectedPostings = ReturnType<typeof collectPostings>

/** A frequency above this is cut: BM25 has long been flat by then. */
const MAX_FREQUENCY = 255
const FREQUENCY_BITS = 8

/**
 * Reads the listings of a part: which rows hold each term, and how often. Flat numbers, as a million
 * listings have some sixty million postings; those of a term are a chain from the last to the first.
 */
export function collectPostings(
  documents: readonly SearchDocument[],
  isOrganic: boolean,
  { reader, terms }: ReadWith,
) {
  /** By term, the number of its last posting plus one; by posting, the same of the one before. */
  const [last, before] = [createNumberList(wholeNumbers), createNumberList(wholeNumbers)]
  const [rows, frequencies] = [createNumberList(wholeNumbers), createNumberList(wholeNumbers)]
  const lengths: Record<SearchField, number[]> = { name: [], labels: [], summary: [] }
  documents.forEach((document, row) => {
    const held = new Map<number, number>()
    const fields = documentFields(document)
    SEARCH_FIELDS.forEach((field, at) => {
      let length = 0
      const tell = (term: number, counted: boolean) => {
        if (counted) length += 1
        const packed = held.get(term) ?? 0
        if (frequencyIn(packed, at) < MAX_FREQUENCY)
          held.set(term, packed + (1 << (at * FREQUENCY_BITS)))
      }
      const how = { row: isOrganic ? row : null, keepStopWords: field === 'name', tell }
      for (const text of fields[field].texts) reader.read(text, how)
      for (const term of fields[field].terms) tell(terms.ofWord(term), false)
      lengths[field].push(length)
    })
    for (const [term, packed] of held) {
      before.push(last.get(term))
      rows.push(row)
      frequencies.push(packed)
      last.set(term, rows.length())
    }
  })
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
    /** How often the row holds the term, see `frequencyIn`. */
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

/** How often a field holds the term, the field by its place in `SEARCH_FIELDS`. */
export function frequencyIn(packed: number, field: number): number {
  return (packed >>> (field * FREQUENCY_BITS)) & MAX_FREQUENCY
}
