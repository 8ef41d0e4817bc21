import { isListingId } from '../../domain/listing/listing-id.ts'
import { TERM_WEIGHTS } from '../../domain/search/search-rank.ts'
import type { KnownTerm, SearchIndex } from '../index/index-shape.ts'
import { hasSingleLetter, type Word } from '../words/split-text.ts'
import { completions, lookUpPair, lookUpWord, tryWord, unspacedCompletions } from './known-term.ts'
import { rememberWords } from './remember.ts'
import { repairWord } from './repair-word.ts'

/** One part of a query, in its position. */
export interface QueryTerm {
  /** As typed. */
  asked: string
  /** The term for pairs with neighbours and for related words; absent where there are none. */
  term?: KnownTerm
  /** All terms searched for it, with their weights. */
  terms: readonly (KnownTerm & { weight: number })[]
  /** The correction, when it was read as a typo. */
  repaired?: KnownTerm
  /** Set when no listing has it. */
  unknown?: true
}

const MAX_COMPLETIONS = 8
const MIN_COMPLETED_CHARACTERS = 2
const MIN_SPLIT_CHARACTERS = 3
/** A word in more listings than this is surely one word. */
const WELL_KNOWN_ROWS = 100
/** A word in at most this many listings, with this many letters, may be a common typo. */
const RARE_ROWS = 2
const LONG_ENOUGH = 6
/** The correction of such a word must be this frequent. */
const FREQUENT_ROWS = 20

const { asked: ASKED } = TERM_WEIGHTS

/** Allowed guesses about a word that no listing has. */
interface Guess {
  /** The last word may be the start of one. */
  isLast: boolean
  maySlip: boolean
}

/** Reads a word of a query as terms, with the words of the listings to go by. */
export function unitsOf(index: SearchIndex, word: Word, guess: Guess): QueryTerm[] {
  switch (word.style) {
    case 'plain':
    case 'camel':
      return plainTerms(index, word.whole, guess)
    case 'hyphen':
      return hyphenTerms(index, word, guess)
    case 'dotted':
      return dottedTerms(index, word)
    case 'unspaced':
      return [unspacedTerm(index, word)]
  }
}

/** Where listings write it as one it is searched in addition to its parts. */
function hyphenTerms(index: SearchIndex, word: Word, guess: Guess): QueryTerm[] {
  const whole = lookUpWord(index, word.whole)
  const parts = word.parts.filter((part) => !index.words.stop.has(part))
  if (hasSingleLetter(word) && whole.rows > 0) return [unitOf(word.whole, whole)]
  const queryTerms = parts.flatMap((part) => plainTerms(index, part, { ...guess, isLast: false }))
  return whole.rows > 0
    ? [{ asked: word.whole, terms: weigh(ASKED, [whole]) }, ...queryTerms]
    : queryTerms
}

/** The pieces of an id or a domain need no guessing. */
function dottedTerms(index: SearchIndex, { whole, parts }: Word): QueryTerm[] {
  const pieces = parts
    .filter((part) => !index.words.stop.has(part))
    .map((part) => lookUpWord(index, part))
    .filter(({ rows }) => rows > 0)
  if (pieces.length === 0 && !isListingId(whole))
    return [{ asked: whole, terms: [], unknown: true }]
  return pieces.map((term) => unitOf(term.written, term))
}

function plainTerms(index: SearchIndex, word: string, guess: Guess): QueryTerm[] {
  const term = lookUpWord(index, word)
  const halves = splitWord(index, word)
  if (halves !== null) {
    const terms = weigh(ASKED, [term, lookUpPair(index, halves[0], halves[1])])
    return [
      { asked: word, term: halves[0], terms },
      { asked: word, term: halves[1], terms: [] },
    ]
  }
  if (term.rows > 0) return [knownTerm(index, term, guess)]
  const isEveryday = index.words.isEveryday(word)
  const found =
    guess.isLast && !isEveryday && word.length >= MIN_COMPLETED_CHARACTERS
      ? completions(index, word, MAX_COMPLETIONS)
      : []
  const rows = found.reduce((sum, completion) => sum + completion.rows, 0)
  const right = guess.maySlip && rows <= RARE_ROWS ? repairWord(index, word) : null
  if (right !== null)
    return [{ asked: word, term: right, terms: weigh(ASKED, [...found, right]), repaired: right }]
  if (found.length > 0) return [{ asked: word, terms: weigh(ASKED, found) }]
  return [{ ...unitOf(word, term), unknown: true }]
}

/** A known word is never dropped; for a rare one that may be a typo the correction is added. */
function knownTerm(index: SearchIndex, term: KnownTerm, { maySlip }: Guess): QueryTerm {
  const { written, rows } = term
  const queryTerm = unitOf(written, term)
  if (rows > RARE_ROWS || written.length < LONG_ENOUGH || !maySlip) return queryTerm
  const right = repairWord(index, written)
  if (right === null || right.rows < FREQUENT_ROWS || right.text === term.text) return queryTerm
  return { ...queryTerm, term: right, terms: weigh(ASKED, [term, right]), repaired: right }
}

/** `realestate` is read as two words where listings have them adjacent more often. */
const splitWord = rememberWords((index, word): [KnownTerm, KnownTerm] | null => {
  const { rows } = lookUpWord(index, word)
  if (rows > WELL_KNOWN_ROWS) return null
  let best: [KnownTerm, KnownTerm] | null = null
  let most = rows / 2
  for (let at = MIN_SPLIT_CHARACTERS; at <= word.length - MIN_SPLIT_CHARACTERS; at += 1) {
    const left = tryWord(index, word.slice(0, at))
    // Hardly any prefix of a word is a word too: then the rest needs no lookup.
    if (left.rows === 0) continue
    const right = tryWord(index, word.slice(at))
    const together = lookUpPair(index, left, right).rows
    if (together <= most) continue
    most = together
    best = [left, right]
  }
  return best
})

/** A single character of an unspaced script matches the start of its pairs. */
function unspacedTerm(index: SearchIndex, { whole, parts }: Word): QueryTerm {
  const terms = parts.flatMap((pair) => {
    const term = lookUpWord(index, pair)
    const isSingle = term.rows === 0 && [...pair].length === 1
    return isSingle ? unspacedCompletions(index, pair, MAX_COMPLETIONS) : [term]
  })
  const isKnown = terms.some(({ rows }) => rows > 0)
  return { asked: whole, terms: weigh(ASKED, terms), ...(!isKnown && { unknown: true }) }
}

function unitOf(asked: string, term: KnownTerm): QueryTerm {
  return { asked, term, terms: weigh(ASKED, [term]) }
}

function weigh(weight: number, terms: readonly KnownTerm[]) {
  return terms.map((term) => ({ ...term, weight }))
}
