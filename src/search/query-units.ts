import { isListingId } from '../domain/listing/listing-id.ts'
import {
  completions,
  type KnownTerm,
  lookUp,
  lookUpPair,
  rowsTogether,
  writtenAs,
} from './known-term.ts'
import { RARE_ROWS, repairWord } from './repair-word.ts'
import { hasSingleLetter, splitText, type Word } from './split-text.ts'
import { STOP_WORDS } from './stop-words.ts'
import { tellingWords } from './telling-words.ts'
import type { TermIndex } from './term-index.ts'
import { toTerm } from './to-term.ts'

/** One thing a query asks for, in its place among the others. */
export interface QueryUnit {
  /** What its neighbours form pairs with; absent for what has no neighbours (ids, CJK). */
  term?: KnownTerm
  /** All terms that are searched for it on their own. */
  terms: readonly KnownTerm[]
  /** Set for a part of a word that was taken apart: it has no meaning of its own. */
  isPart?: true
  /** Set where it is written as a listing id. */
  id?: string
  /** What it was taken for, when it was read as a slip. */
  repaired?: string
  /** Itself as it was written, when no listing has it. */
  unknown?: string
}

const MAX_COMPLETIONS = 8
const MIN_COMPLETED_CHARACTERS = 2
const MIN_SPLIT_CHARACTERS = 3
/** A word in more listings than this is surely one word. */
const WELL_KNOWN_ROWS = 100
/** A query of so many words is a sentence, not the look-up of a name. */
const SENTENCE_WORDS = 5
/** A query with more slips than this is none that would be the better for guessing. */
const MAX_REPAIRS = 4

/** What may be guessed about a word that the index does not know. */
interface Guess {
  /** The last word may be the start of one. */
  last: boolean
  /** Where it stands, if it may be a slip. */
  slipIn: 'look-up' | 'sentence' | null
}

/** Reads a query text as units, with the words of the index to go by. */
export function queryUnits(part: TermIndex, text: string, maxWords: number): QueryUnit[] {
  const words = splitText(text).slice(0, maxWords)
  const joined = joinWords(part, words)
  const kept = tellingWords(joined)
  const units: QueryUnit[] = []
  const place = words.length < SENTENCE_WORDS ? 'look-up' : 'sentence'
  kept.forEach((word, at) => {
    const repairs = units.filter((unit) => unit.repaired !== undefined).length
    const guess = {
      last: at === kept.length - 1,
      slipIn: repairs < MAX_REPAIRS ? place : null,
    } as const
    units.push(...unitsOf(part, word, guess))
  })
  return units
}

/** `power point` is one word where the index has it at least as often as the two side by side. */
function joinWords(part: TermIndex, words: readonly Word[]): Word[] {
  const joined: Word[] = []
  for (let at = 0; at < words.length; at += 1) {
    const left = words[at]
    if (left === undefined) break
    const three = joinThree(part, left, words[at + 1], words[at + 2])
    const two = three === null ? joinTwo(part, left, words[at + 1]) : null
    joined.push(three ?? two ?? left)
    if (three !== null) at += 2
    else if (two !== null) at += 1
  }
  return joined
}

/** `speech to text` is not `text to speech`: listings write them with hyphens, so they have a term. */
function joinThree(part: TermIndex, left: Word, middle?: Word, right?: Word): Word | null {
  if (middle === undefined || right === undefined || !STOP_WORDS.has(middle.whole)) return null
  if (!isPlain(left) || !isPlain(right)) return null
  const parts = [left.whole, middle.whole, right.whole]
  const whole = parts.join('')
  return lookUp(part, toTerm(whole)).rows > 0 ? { whole, parts, style: 'hyphen' } : null
}

function joinTwo(part: TermIndex, left: Word, right?: Word): Word | null {
  if (right === undefined || !isPlain(left) || !isPlain(right)) return null
  const whole = left.whole + right.whole
  const { rows } = lookUp(part, toTerm(whole))
  if (rows < RARE_ROWS) return null
  const apart = rowsTogether(part, termOf(part, left.whole), termOf(part, right.whole))
  return rows >= apart ? { whole, parts: [], style: 'plain' } : null
}

function termOf(part: TermIndex, word: string): KnownTerm {
  return lookUp(part, toTerm(word))
}

function isPlain(word: Word): boolean {
  return word.style === 'plain'
}

function unitsOf(part: TermIndex, word: Word, guess: Guess): QueryUnit[] {
  switch (word.style) {
    case 'plain':
      return plainUnits(part, word.whole, guess)
    case 'camel':
      return camelUnits(part, word, guess)
    case 'hyphen':
      return hyphenUnits(part, word, guess)
    case 'dotted':
      return [dottedUnit(part, word.whole), ...pieces(part, word, guess)]
    case 'unspaced':
      return [{ terms: word.parts.flatMap((pair) => unspacedTerms(part, pair)) }]
  }
}

/** One thing where listings know it as one; its parts then only find more of the like. */
function hyphenUnits(part: TermIndex, word: Word, guess: Guess): QueryUnit[] {
  const whole = termOf(part, word.whole)
  if (hasSingleLetter(word)) return [{ term: whole, terms: [whole] }]
  if (!isOneWord(part, word, whole))
    return [{ terms: known([whole]) }, ...pieces(part, word, guess)]
  const parts = word.parts.filter((piece) => !STOP_WORDS.has(piece))
  return [{ term: whole, terms: known([whole, ...parts.map((piece) => termOf(part, piece))]) }]
}

function camelUnits(part: TermIndex, word: Word, guess: Guess): QueryUnit[] {
  const whole = termOf(part, word.whole)
  return isOneWord(part, word, whole)
    ? [{ term: whole, terms: [whole] }]
    : word.parts.flatMap((piece) => plainUnits(part, piece, guess))
}

/** `WhatsApp` is one word where listings have it at least as often as any two of its parts. */
function isOneWord(part: TermIndex, { parts }: Word, whole: KnownTerm): boolean {
  return whole.rows >= Math.max(1, mostAdjacent(part, parts))
}

/** `x402.foo` is an id, `api.example.com` a host: both are found as a whole. */
function dottedUnit(part: TermIndex, whole: string): QueryUnit {
  const terms = known([lookUp(part, whole)])
  return isListingId(whole) ? { id: whole, terms } : { terms }
}

function pieces(part: TermIndex, word: Word, guess: Guess): QueryUnit[] {
  return word.parts
    .filter((piece) => !STOP_WORDS.has(piece))
    .flatMap((piece) => {
      if (word.style === 'hyphen') return plainUnits(part, piece, guess)
      // An id or a domain is known as a whole; its pieces then need no guessing.
      const term = termOf(part, piece)
      return [{ term, terms: known([term]) }]
    })
}

function plainUnits(part: TermIndex, word: string, { last, slipIn }: Guess): QueryUnit[] {
  const term = lookUp(part, STOP_WORDS.has(word) ? word : toTerm(word))
  const own = known([term])
  const halves = term.rows > WELL_KNOWN_ROWS ? null : splitWord(part, word, term.rows)
  if (halves !== null) {
    const [left, right] = halves
    return [
      { term: left, terms: known([...own, lookUpPair(part, left, right)]), isPart: true },
      { term: right, terms: [], isPart: true },
    ]
  }
  const isStart = term.rows === 0 && last && word.length >= MIN_COMPLETED_CHARACTERS
  const terms = isStart ? completions(part, word, MAX_COMPLETIONS) : own
  const rows = terms.reduce((sum, found) => sum + found.rows, 0)
  const right = slipIn === null ? null : repairWord(part, { ...term, rows }, slipIn)
  if (right === null) {
    if (isStart && terms.length > 0) return [{ terms }]
    return [{ term, terms: own, ...(term.rows === 0 && { unknown: word }) }]
  }
  return [{ term: right, terms: [...terms, right], repaired: writtenAs(part, right) }]
}

/** `realestate` is read as two words where listings have them side by side more often. */
function splitWord(part: TermIndex, word: string, rows: number): [KnownTerm, KnownTerm] | null {
  let best: [KnownTerm, KnownTerm] | null = null
  let most = rows / 2
  for (let at = MIN_SPLIT_CHARACTERS; at <= word.length - MIN_SPLIT_CHARACTERS; at += 1) {
    const left = termOf(part, word.slice(0, at))
    // Hardly any start of a word is one too: its rest then needs no looking up.
    if (left.rows === 0) continue
    const right = termOf(part, word.slice(at))
    const together = rowsTogether(part, left, right)
    if (together <= most) continue
    most = together
    best = [left, right]
  }
  return best
}

function mostAdjacent(part: TermIndex, words: readonly string[]): number {
  const terms = words.map((word) => termOf(part, word))
  const rows = terms.slice(1).map((term, at) => rowsTogether(part, terms[at] ?? term, term))
  return Math.max(0, ...rows)
}

/** A single character of an unspaced script stands at the start of its pairs. */
function unspacedTerms(part: TermIndex, pair: string): KnownTerm[] {
  const term = lookUp(part, pair)
  if (term.rows > 0) return [term]
  return [...pair].length === 1 ? completions(part, pair, MAX_COMPLETIONS) : []
}

function known(terms: readonly KnownTerm[]): readonly KnownTerm[] {
  return terms.filter(({ rows }) => rows > 0)
}
