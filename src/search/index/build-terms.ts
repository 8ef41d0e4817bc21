import { fieldShare, SEARCH_FIELDS, saturate } from '../../domain/search/search-rank.ts'
import type { TermNumbers } from '../words/term-numbers.ts'
import type { CollectedPostings } from './collect-postings.ts'
import type { TermIndex, WordPairs } from './postings.ts'
import { frequencyIn } from './read-document.ts'
import { buildWordTable } from './word-table.ts'

const MAX_PALETTE = 2 ** 16

/**
 * The term index. Pairs that only one organic listing has are left out.
 * @throws Error when there are too many combinations of lengths to number
 */
export function buildTermIndex(collected: CollectedPostings, terms: TermNumbers): TermIndex {
  const { words, pairs, numbers } = sortTerms(terms, (pair) => collected.organicOf(pair, 2) === 2)
  return {
    words: buildWordTable(words),
    pairs,
    ...listPostings(collected, numbers, createScorer(collected)),
  }
}

/**
 * The terms that are kept in order: words by their text, pairs by the word that sorts first and then
 * the other.
 * @returns with the terms in order the numbers that `terms` has for them
 */
export function sortTerms(terms: TermNumbers, isKept: (pair: number) => boolean) {
  const words = [...terms.words.keys()].sort()
  const wordTerms = words.map(terms.ofWord)
  const places = new Map(wordTerms.map((term, place) => [term, place]))
  const placeOf = (term: number) => places.get(term) ?? 0
  /** The positions of both words as one number. */
  const kept: number[] = []
  for (const [a, others] of terms.pairs)
    for (const [b, pair] of others) {
      if (!isKept(pair)) continue
      const [left, right] = [placeOf(a), placeOf(b)]
      kept.push(Math.min(left, right) * words.length + Math.max(left, right))
    }
  const sorted = Float64Array.from(kept).sort()
  const pairs: WordPairs = {
    starts: new Uint32Array(words.length + 1),
    seconds: Uint32Array.from(sorted, (pair) => pair % words.length),
  }
  const firsts = Uint32Array.from(sorted, (pair) => Math.floor(pair / words.length))
  for (const first of firsts) pairs.starts[first + 1] = (pairs.starts[first + 1] ?? 0) + 1
  pairs.starts.forEach((count, word) => {
    pairs.starts[word] = count + (pairs.starts[word - 1] ?? 0)
  })
  const pairTerms = firsts.map((first, at) =>
    terms.ofPair(wordTerms[first] ?? 0, wordTerms[pairs.seconds[at] ?? 0] ?? 0),
  )
  const numbers = new Uint32Array(words.length + pairTerms.length)
  numbers.set(wordTerms)
  numbers.set(pairTerms, words.length)
  return { words, pairs, numbers }
}

/**
 * A posting's score before idf depends only on a few small numbers and so repeats: each value is
 * stored once, exactly, and a posting holds its number.
 */
function listPostings(
  { count, organicRows, ofTerm, rowOf, packedOf }: CollectedPostings,
  terms: Uint32Array,
  scoreOf: (packed: number, row: number) => number,
): Pick<TermIndex, 'postings' | 'scoreTable' | 'scoreTableFields'> {
  const [rows, codes] = [new Uint32Array(count), new Uint16Array(count)]
  let held = 0
  const starts = new Uint32Array(terms.length + 1)
  const organicEnds = new Uint32Array(terms.length)
  const scoreTable: { score: number; fields: number }[] = []
  /** By the fields that hold the term, and then by the score. */
  const known = Array.from({ length: 1 << SEARCH_FIELDS.length }, () => new Map<number, number>())
  const codeOf = (score: number, fields: number) => {
    const code = known[fields]?.get(score) ?? scoreTable.length
    if (code === scoreTable.length) scoreTable.push({ score, fields })
    known[fields]?.set(score, code)
    return code
  }
  terms.forEach((term, at) => {
    for (const posting of ofTerm(term)) {
      const [row, packed] = [rowOf(posting), packedOf(posting)]
      rows[held] = row
      codes[held] = codeOf(scoreOf(packed, row), fieldsIn(packed))
      held += 1
      if (row < organicRows) organicEnds[at] = held
    }
    // A term of our own rows alone has no organic postings.
    organicEnds[at] = Math.max(organicEnds[at] ?? 0, starts[at] ?? 0)
    starts[at + 1] = held
  })
  if (scoreTable.length > MAX_PALETTE)
    throw new Error(
      `The search index has ${scoreTable.length} different term scores; it can number ${MAX_PALETTE}.`,
    )
  return {
    postings: { starts, organicEnds, rows: rows.slice(0, held), codes: codes.slice(0, held) },
    scoreTable: Float64Array.from(scoreTable, ({ score }) => score),
    scoreTableFields: Uint8Array.from(scoreTable, ({ fields }) => fields),
  }
}

/** The fields that hold a term, a bit for each. */
function fieldsIn(packed: number): number {
  return SEARCH_FIELDS.reduce(
    (bits, _, at) => bits | (Number(frequencyIn(packed, at) > 0) << at),
    0,
  )
}

/** @returns what a posting with these frequencies scores in a row, before idf and weight */
function createScorer({ lengths, averageLength }: CollectedPostings) {
  return (packed: number, row: number): number => {
    let sum = 0
    SEARCH_FIELDS.forEach((field, at) => {
      const frequency = frequencyIn(packed, at)
      if (frequency === 0) return
      const length = lengths[field][row] ?? 0
      sum += fieldShare(field, { frequency, length, averageLength: averageLength[field] })
    })
    return saturate(sum)
  }
}
