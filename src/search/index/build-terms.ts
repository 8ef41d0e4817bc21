import { fieldShare, SEARCH_FIELDS, saturate } from '../../domain/search/search-rank.ts'
import type { TermNumbers } from '../words/term-numbers.ts'
import type { CollectedPostings, Statistics } from './collect-postings.ts'
import { byteNumbers, createNumberList, wholeNumbers } from './number-list.ts'
import {
  PADDING_BYTES,
  type Postings,
  TERMS_A_BLOCK,
  type TermIndex,
  type WordPairs,
} from './postings.ts'
import { frequencyIn } from './read-document.ts'
import { pushVarint } from './varint.ts'
import { buildWordTable } from './word-table.ts'

/** Distances of three bytes and palette numbers of two are all a reader expects. */
const MAX_ROWS = 2 ** 21
const MAX_PALETTE = 2 ** 15
/** Words that have numbers of two bytes. */
const SHORT_NUMBERS = 2 ** 16

/**
 * The term index of a part. Pairs that only one organic listing has are left out.
 * @param organic what idf and average lengths are taken of, and which pairs are kept
 * @throws Error when there are more rows, or combinations of lengths, than can be numbered
 */
export function buildTermIndex(
  collected: CollectedPostings,
  organic: CollectedPostings,
  terms: TermNumbers,
): TermIndex {
  const { statistics } = organic
  if (collected.statistics.rows > MAX_ROWS)
    throw new Error(
      `${collected.statistics.rows} listings: an index can number ${MAX_ROWS} at most.`,
    )
  const { words, pairs, numbers } = sortTerms(terms, {
    word: (term) => collected.isHeld(term, 1),
    pair: (term) => collected.isHeld(term, 1) && organic.isHeld(term, 2),
  })
  const { codeOf, palette, paletteFields } = createPalette(collected, statistics, numbers)
  return {
    words: buildWordTable(words),
    pairs,
    postings: writePostings(collected, numbers, codeOf),
    palette,
    paletteFields,
    scoredRows: statistics.rows,
  }
}

/**
 * The terms that are kept in order: words by their text, pairs by the word that sorts first and then
 * the other.
 * @returns with the terms in order the numbers that `terms` has for them
 * @throws Error naming a word that is kept in a pair only
 */
export function sortTerms(
  terms: TermNumbers,
  isKept: { word(term: number): boolean; pair(term: number): boolean },
) {
  const words = [...terms.words.keys()].filter((word) => isKept.word(terms.ofWord(word))).sort()
  const wordTerms = words.map(terms.ofWord)
  const places = new Map(wordTerms.map((term, place) => [term, place]))
  const placeOf = (term: number) => {
    const place = places.get(term)
    if (place !== undefined) return place
    const [word] = [...terms.words].find(([, number]) => number === term) ?? []
    throw new Error(`A pair with “${word}” was indexed, but not “${word}” as a term.`)
  }
  /** The places of both words as one number. */
  const kept: number[] = []
  for (const [a, others] of terms.pairs)
    for (const [b, pair] of others) {
      if (!isKept.pair(pair)) continue
      const [left, right] = [placeOf(a), placeOf(b)]
      kept.push(Math.min(left, right) * words.length + Math.max(left, right))
    }
  const sorted = Float64Array.from(kept).sort()
  const Seconds = words.length <= SHORT_NUMBERS ? Uint16Array : Uint32Array
  const pairs: WordPairs = {
    starts: new Uint32Array(words.length + 1),
    seconds: new Seconds(sorted.map((pair) => pair % words.length)),
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
 * What a posting scores before idf depends on a few small numbers alone and so repeats: each value
 * is kept once, exactly, and a posting holds its number. Frequent ones get the small numbers, which
 * take fewer bytes.
 */
function createPalette(collected: CollectedPostings, statistics: Statistics, numbers: Uint32Array) {
  const entries = findEntries(collected, createScorer(collected, statistics))
  for (const term of numbers)
    for (const at of collected.ofTerm(term)) {
      const entry = entries.ofPosting(at)
      if (entry !== undefined) entry.uses += 1
    }
  const ranked = entries.all
    .filter(({ uses }) => uses > 0)
    .sort((a, b) => b.uses - a.uses || a.value - b.value || a.fields - b.fields)
  if (ranked.length > MAX_PALETTE)
    throw new Error(
      `The search index has ${ranked.length} different term scores; it can number ${MAX_PALETTE}.`,
    )
  for (const [code, entry] of ranked.entries()) entry.code = code
  return {
    codeOf: (posting: number) => entries.ofPosting(posting)?.code ?? 0,
    palette: Float64Array.from(ranked, ({ value }) => value),
    paletteFields: Uint8Array.from(ranked, ({ fields }) => fields),
  }
}

/** The entry of each posting. Most terms of a row are there equally often: each is scored once. */
function findEntries(
  { postings, rowOf, packedOf }: CollectedPostings,
  scoreOf: (packed: number, row: number) => number,
) {
  const all: PaletteEntry[] = []
  const places = wholeNumbers(postings())
  /** By the fields that hold the term, and then by the value. */
  const known = Array.from({ length: 1 << SEARCH_FIELDS.length }, () => new Map<number, number>())
  const inRow = new Map<number, number>()
  const find = (packed: number, row: number): number => {
    const [fields, value] = [fieldsIn(packed), scoreOf(packed, row)]
    const place = known[fields]?.get(value) ?? all.length
    if (place === all.length) all.push({ value, fields, uses: 0, code: 0 })
    known[fields]?.set(value, place)
    return place
  }
  for (let at = 0; at < places.length; at += 1) {
    const [row, packed] = [rowOf(at), packedOf(at)]
    if (at > 0 && row !== rowOf(at - 1)) inRow.clear()
    const place = inRow.get(packed) ?? find(packed, row)
    inRow.set(packed, place)
    places[at] = place
  }
  return { all, ofPosting: (posting: number) => all[places[posting] ?? 0] }
}

interface PaletteEntry {
  value: number
  fields: number
  /** Postings that have it. */
  uses: number
  code: number
}

/** The fields that hold a term, a bit for each. */
function fieldsIn(packed: number): number {
  return SEARCH_FIELDS.reduce(
    (bits, _, at) => bits | (Number(frequencyIn(packed, at) > 0) << at),
    0,
  )
}

/** @returns what a posting with these frequencies scores in a row, before idf and weight */
function createScorer({ lengths }: CollectedPostings, { averageLength }: Statistics) {
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

/** Lays out the postings of all terms in order, as `Postings` says. */
function writePostings(
  { ofTerm, rowOf }: CollectedPostings,
  numbers: Uint32Array,
  codeOf: (posting: number) => number,
): Postings {
  const [bytes, run] = [createNumberList(byteNumbers), createNumberList(byteNumbers)]
  const blocks = new Uint32Array(Math.ceil(numbers.length / TERMS_A_BLOCK))
  numbers.forEach((term, at) => {
    if (at % TERMS_A_BLOCK === 0) blocks[at / TERMS_A_BLOCK] = bytes.length()
    const postings = ofTerm(term)
    run.clear()
    pushVarint(run, postings.length)
    let row = 0
    for (const posting of postings) {
      pushVarint(run, rowOf(posting) - row)
      pushCode(run, codeOf(posting))
      row = rowOf(posting)
    }
    pushVarint(bytes, run.length())
    bytes.pushAll(run.memory().subarray(0, run.length()))
  })
  for (let padding = 0; padding < PADDING_BYTES; padding += 1) bytes.push(0)
  return { bytes: bytes.memory().slice(0, bytes.length()), blocks }
}

function pushCode(bytes: { push(byte: number): void }, code: number): void {
  bytes.push(code < 0x80 ? code : 0x80 | (code & 0x7f))
  if (code > 0x7f) bytes.push(code >>> 7)
}
