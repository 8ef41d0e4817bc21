import {
  fieldShare,
  SEARCH_FIELDS,
  type SearchField,
  saturate,
} from '../../domain/search/search-rank.ts'
import { allocateNumbers, createNumberList, type NumberList } from '../numbers/number-list.ts'
import type { TermLexicon } from '../words/term-lexicon.ts'
import { isAlias, termOfToken } from '../words/text-step.ts'
import { writePostings } from './write-postings.ts'

/** Row count and lengths of the organic rows: with document frequencies all that scores are made of. */
export interface Statistics {
  rows: number
  averageLength: Record<SearchField, number>
}

/** A frequency above this is cut: BM25 has long been flat by then. */
const MAX_FREQUENCY = 255
const FREQUENCY_BITS = 8
/** Distances of three bytes and palette numbers of two are all a reader expects. */
const MAX_ROWS = 2 ** 21
const MAX_PALETTE = 2 ** 15

/** What was added, as flat numbers: a million listings have some thirty million of each. */
interface Collected {
  termOf: NumberList
  rowOf: NumberList
  /** How often the row holds the term, eight bits for each field. */
  frequenciesOf: NumberList
  lengths: Record<SearchField, number[]>
  rows: number
}

/** Rows come in ascending order. @param lexicon what the terms of the tokens are called */
export function createPostingsBuilder(lexicon: TermLexicon) {
  const collected: Collected = {
    termOf: createNumberList(),
    rowOf: createNumberList(),
    frequenciesOf: createNumberList(),
    lengths: { name: [], labels: [], summary: [] },
    rows: 0,
  }
  const frequencies = createNumberList()
  return {
    addRow(tokens: Record<SearchField, readonly number[]>): void {
      const terms: number[] = []
      SEARCH_FIELDS.forEach((field, at) => {
        const length = countTokens(frequencies, terms, tokens[field], at * FREQUENCY_BITS)
        collected.lengths[field].push(length)
      })
      for (const term of terms) {
        collected.termOf.push(term)
        collected.rowOf.push(collected.rows)
        collected.frequenciesOf.push(frequencies.get(term))
        frequencies.set(term, 0)
      }
      collected.rows += 1
    },
    statistics: (): Statistics => toStatistics(collected),
    /** @throws Error when there are more rows, or combinations of lengths, than can be numbered */
    finish(statistics: Statistics) {
      if (collected.rows > MAX_ROWS)
        throw new Error(`${collected.rows} listings: an index can number ${MAX_ROWS} at most.`)
      const { codes, palette, paletteFields } = createPalette(collected, statistics)
      const [termOf, rowOf] = [collected.termOf.values(), collected.rowOf.values()]
      return { ...writePostings({ lexicon, termOf, rowOf, codes }), palette, paletteFields }
    },
  }
}

/** Counts tokens into the row at work; returns how many of them count as length. */
function countTokens(
  frequencies: NumberList,
  terms: number[],
  tokens: readonly number[],
  shift: number,
): number {
  let length = 0
  for (const token of tokens) {
    const term = termOfToken(token)
    if (!isAlias(token)) length += 1
    const packed = frequencies.get(term)
    if (packed === 0) terms.push(term)
    if (((packed >>> shift) & MAX_FREQUENCY) === MAX_FREQUENCY) continue
    frequencies.set(term, packed + (1 << shift))
  }
  return length
}

function toStatistics({ lengths, rows }: Collected): Statistics {
  const average = (field: SearchField) =>
    lengths[field].reduce((sum, length) => sum + length, 0) / Math.max(rows, 1)
  const averageLength = {
    name: average('name'),
    labels: average('labels'),
    summary: average('summary'),
  }
  return { rows, averageLength }
}

/**
 * What a posting scores before idf depends on a few small numbers alone and so repeats: each value
 * is kept once, exactly, and a posting holds its number. Frequent ones get the small numbers, which
 * take fewer bytes.
 */
function createPalette(collected: Collected, statistics: Statistics) {
  const scoreOf = createScorer(collected, statistics)
  const frequencies = collected.frequenciesOf.values()
  const rowOf = collected.rowOf.values()
  /** By the fields that hold the term, and then by the value. */
  const known = Array.from({ length: 1 << SEARCH_FIELDS.length }, () => new Map<number, number>())
  const seen: { value: number; fields: number; uses: number; code: number }[] = []
  const numbers = allocateNumbers(frequencies.length)
  for (let at = 0; at < numbers.length; at += 1) {
    const packed = frequencies[at] ?? 0
    const value = scoreOf(packed, rowOf[at] ?? 0)
    const fields = fieldsIn(packed)
    let number = known[fields]?.get(value)
    if (number === undefined) {
      number = seen.push({ value, fields, uses: 0, code: 0 }) - 1
      known[fields]?.set(value, number)
    }
    const entry = seen[number]
    if (entry !== undefined) entry.uses += 1
    numbers[at] = number
  }
  if (seen.length > MAX_PALETTE)
    throw new Error(
      `The search index has ${seen.length} different term scores; it can number ${MAX_PALETTE}.`,
    )
  const ranked = seen.toSorted(
    (a, b) => b.uses - a.uses || a.value - b.value || a.fields - b.fields,
  )
  for (const [code, entry] of ranked.entries()) entry.code = code
  return {
    codes: numbers.map((number) => seen[number]?.code ?? 0),
    palette: Float64Array.from(ranked, ({ value }) => value),
    paletteFields: Uint8Array.from(ranked, ({ fields }) => fields),
  }
}

function fieldsIn(packed: number): number {
  let fields = 0
  SEARCH_FIELDS.forEach((_, at) => {
    if (((packed >>> (at * FREQUENCY_BITS)) & MAX_FREQUENCY) > 0) fields |= 1 << at
  })
  return fields
}

/** @returns what a posting with these frequencies scores in a row, before idf and weight */
function createScorer({ lengths }: Collected, { averageLength }: Statistics) {
  return (packed: number, row: number): number => {
    let sum = 0
    for (let at = 0; at < SEARCH_FIELDS.length; at += 1) {
      const frequency = (packed >>> (at * FREQUENCY_BITS)) & MAX_FREQUENCY
      const field = SEARCH_FIELDS[at]
      if (frequency === 0 || field === undefined) continue
      const length = lengths[field][row] ?? 0
      sum += fieldShare(field, { frequency, length, averageLength: averageLength[field] })
    }
    return saturate(sum)
  }
}
