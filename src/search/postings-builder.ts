import { SEARCH_FIELDS, type SearchField, termSaturation } from '../domain/search-rank.ts'
import { createByteList } from './byte-list.ts'
import type { Lexicon } from './lexicon.ts'
import { createNumberList, type NumberList } from './number-list.ts'
import { createSaturationPalette, type SaturationPalette } from './saturation-palette.ts'
import { type SortedPostings, sortByTerm } from './sort-by-term.ts'
import { isAlias, termOfToken } from './token.ts'

/**
 * Which rows hold a term and how often, in bytes (see `score-terms.ts`, which reads them): for each
 * term as varints how many rows hold it, its document frequency in each field, then for each row
 * the distance to the one before and a number of the palette.
 */
export interface Postings {
  terms: readonly string[]
  /** Where each term starts in `bytes`; one more than there are terms. */
  starts: Uint32Array
  bytes: Uint8Array
  /** Saturations in name, labels and summary, three for each number a posting may hold. */
  palette: Float32Array
  /** Saturation of a term that stands once in a row's name; for ids and for words held together. */
  nameSaturations: Float32Array
  /** How many rows hold each term. */
  counts: Uint32Array
  /** Rows the document frequencies were taken over. */
  scoredRows: number
}

/** Row count, lengths and document frequencies of the organic rows: every score is made of them. */
export interface Statistics {
  rows: number
  averageLength: Record<SearchField, number>
  documentFrequency(field: SearchField, term: string): number
}

export interface PostingsBuilder {
  /** Adds tokens to a field of a row. Rows come in ascending order; a field may come in pieces. */
  add(row: number, field: SearchField, tokens: readonly number[]): void
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

/** The row at work: how often it holds each term, packed as in `Collected`. */
interface CurrentRow {
  frequencies: NumberList
  terms: number[]
}

/** @param lexicon what the terms of the tokens are called */
export function createPostingsBuilder(lexicon: Lexicon): PostingsBuilder {
  const collected: Collected = {
    numbers: new Map(),
    termOf: createNumberList(),
    rowOf: createNumberList(),
    frequenciesOf: createNumberList(),
    lengths: { name: [], labels: [], summary: [] },
    rows: 0,
  }
  const current: CurrentRow = { frequencies: createNumberList(), terms: [] }
  /** The number of each term in `collected`, plus one. */
  const numberOf = createNumberList()
  const flush = () => {
    for (const term of current.terms) {
      if (numberOf.get(term) === 0) {
        collected.numbers.set(lexicon.textOf(term), collected.numbers.size)
        numberOf.set(term, collected.numbers.size)
      }
      addPosting(collected, numberOf.get(term) - 1, current.frequencies.get(term))
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
      return scorePostings(collected, statistics)
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

function frequencyIn(frequencies: number, shift: number): number {
  return (frequencies >>> shift) & MAX_FREQUENCY
}

function addPosting(collected: Collected, number: number, frequencies: number): void {
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

/** Terms in order, their rows ascending as they were added. */
function scorePostings(collected: Collected, statistics: Statistics): Postings {
  const terms = [...collected.numbers.keys()].sort()
  const sorted = sortByTerm(
    {
      numbers: collected.numbers,
      termOf: collected.termOf.values(),
      rowOf: collected.rowOf.values(),
    },
    terms,
  )
  const palette = createSaturationPalette(
    SEARCH_FIELDS.map((field) => statistics.averageLength[field]),
  )
  const codes = codesOf(collected, sorted, palette)
  const ranks = palette.rank()
  const bytes = createByteList()
  const starts = new Uint32Array(terms.length + 1)
  const counts = new Uint32Array(terms.length)
  terms.forEach((term, at) => {
    const [first, end] = [sorted.starts[at] ?? 0, sorted.starts[at + 1] ?? 0]
    counts[at] = end - first
    bytes.pushVarint(end - first)
    for (const field of SEARCH_FIELDS) bytes.pushVarint(statistics.documentFrequency(field, term))
    let row = 0
    for (let from = first; from < end; from += 1) {
      const posting = sorted.postings[from] ?? 0
      bytes.pushVarint((sorted.rowOf[posting] ?? 0) - row)
      bytes.pushVarint(ranks[codes[posting] ?? 0] ?? 0)
      row = sorted.rowOf[posting] ?? 0
    }
    starts[at + 1] = bytes.length()
  })
  const { rows: scoredRows } = statistics
  return {
    terms,
    starts,
    bytes: bytes.values(),
    palette: palette.values(),
    nameSaturations: nameSaturationsOf(collected, statistics),
    counts,
    scoredRows,
  }
}

function nameSaturationsOf({ lengths, rows }: Collected, { averageLength }: Statistics) {
  return Float32Array.from({ length: rows }, (_, row) =>
    termSaturation(1, lengths.name[row] ?? 0, averageLength.name),
  )
}

/** The palette number of each posting, in the order they were added. */
function codesOf(
  { frequenciesOf, lengths }: Collected,
  { rowOf }: SortedPostings,
  palette: SaturationPalette,
): Uint32Array {
  const packed = frequenciesOf.values()
  const codes = new Uint32Array(packed.length)
  for (let at = 0; at < packed.length; at += 1) {
    const row = rowOf[at] ?? 0
    const frequencies = SEARCH_FIELDS.map((_, field) =>
      frequencyIn(packed[at] ?? 0, field * FREQUENCY_BITS),
    )
    codes[at] = palette.codeOf(
      frequencies,
      SEARCH_FIELDS.map((field) => lengths[field][row] ?? 0),
    )
  }
  return codes
}
