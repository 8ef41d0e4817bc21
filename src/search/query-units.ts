import { isListingId } from '../domain/listing-id.ts'
import { completions, rowsWith, rowsWithPair } from './index-words.ts'
import { RARE_ROWS, repairWord } from './repair-word.ts'
import { hasSingleLetter, splitText, type Word } from './split-text.ts'
import { FILLER_WORDS, STOP_WORDS } from './stop-words.ts'
import { findSurface } from './surface-table.ts'
import { findTerm } from './term-dictionary.ts'
import type { TermIndex } from './term-index.ts'
import { toTerm } from './to-term.ts'

/** One thing a query asks for, in its place among the others. */
export interface QueryUnit {
  /** What its neighbours form pairs with; absent for what has no neighbours (ids, CJK). */
  term?: string
  /** All terms that are searched for it on their own. */
  terms: readonly string[]
  /** Set where it is written as a listing id. */
  id?: string
  /** What it was taken for, when it was read as a slip. */
  repaired?: string
}

const MAX_COMPLETIONS = 8
const MIN_COMPLETED_CHARACTERS = 2
const MIN_SPLIT_CHARACTERS = 3
/** A word in more listings than this is surely one word. */
const WELL_KNOWN_ROWS = 100
/** Finding a slip is the costliest step: a flood of unknown words doesn't get more of it. */
const MAX_REPAIRS = 4

/** Reads a query text as units, with the words of the index to go by. */
export function queryUnits(part: TermIndex, text: string, maxWords: number): QueryUnit[] {
  const words = splitText(text).slice(0, maxWords)
  const joined = joinWords(part, words)
  const kept = withoutFillers(joined)
  const units: QueryUnit[] = []
  kept.forEach((word, at) => {
    const repairs = units.filter((unit) => unit.repaired !== undefined).length
    units.push(...unitsOf(part, word, at === kept.length - 1, repairs < MAX_REPAIRS))
  })
  return units
}

/** Stop words and fillers go, unless the query has nothing else. */
function withoutFillers(words: readonly Word[]): readonly Word[] {
  const telling = words.filter((word) => !STOP_WORDS.has(word.whole))
  const core = telling.filter((word) => !FILLER_WORDS.has(word.whole))
  if (core.length > 0) return core
  return telling.length > 0 ? telling : words
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
  return rowsWith(part, toTerm(whole)) > 0 ? { whole, parts, style: 'hyphen' } : null
}

function joinTwo(part: TermIndex, left: Word, right?: Word): Word | null {
  if (right === undefined || !isPlain(left) || !isPlain(right)) return null
  const whole = left.whole + right.whole
  const rows = rowsWith(part, toTerm(whole))
  if (rows < RARE_ROWS) return null
  const apart = rowsWithPair(part, toTerm(left.whole), toTerm(right.whole))
  return rows >= apart ? { whole, parts: [], style: 'plain' } : null
}

function isPlain(word: Word): boolean {
  return word.style === 'plain'
}

function unitsOf(part: TermIndex, word: Word, last: boolean, repair: boolean): QueryUnit[] {
  const whole = toTerm(word.whole)
  switch (word.style) {
    case 'plain':
      return plainUnits(part, word.whole, last, repair)
    case 'camel':
      return rowsWith(part, whole) >= Math.max(1, mostAdjacent(part, word.parts))
        ? [{ term: whole, terms: [whole] }]
        : word.parts.flatMap((piece) => plainUnits(part, piece, last, repair))
    case 'hyphen':
      if (hasSingleLetter(word)) return [{ term: whole, terms: [whole] }]
      return [{ terms: known(part, [whole]) }, ...pieces(part, word, last, repair)]
    case 'dotted':
      return [dottedUnit(part, word.whole), ...pieces(part, word, last, repair)]
    case 'unspaced':
      return [{ terms: word.parts.flatMap((pair) => unspacedTerms(part, pair)) }]
  }
}

/** `x402.foo` is an id, `api.example.com` a host: both are found as a whole. */
function dottedUnit(part: TermIndex, whole: string): QueryUnit {
  const terms = known(part, [whole])
  return isListingId(whole) ? { id: whole, terms } : { terms }
}

function pieces(part: TermIndex, word: Word, last: boolean, repair: boolean): QueryUnit[] {
  // An id or a domain is known as a whole; its pieces then need no guessing.
  const guess = word.style === 'hyphen' && repair
  return word.parts
    .filter((piece) => !STOP_WORDS.has(piece))
    .flatMap((piece) =>
      guess || word.style === 'hyphen'
        ? plainUnits(part, piece, last, guess)
        : [{ term: toTerm(piece), terms: known(part, [toTerm(piece)]) }],
    )
}

function plainUnits(part: TermIndex, word: string, last: boolean, repair: boolean): QueryUnit[] {
  const term = STOP_WORDS.has(word) ? word : toTerm(word)
  const rows = rowsWith(part, term)
  const own = rows > 0 ? [term] : []
  const halves = rows > WELL_KNOWN_ROWS ? null : splitWord(part, word, rows)
  if (halves !== null) return [{ terms: own }, ...halves.map((half) => ({ term: half, terms: [] }))]
  if (rows === 0 && last && word.length >= MIN_COMPLETED_CHARACTERS) {
    const terms = completions(part, word, MAX_COMPLETIONS)
    if (terms.length > 0) return [{ terms }]
  }
  const right = repair ? repairWord(part, term, rows) : null
  if (right === null) return [{ term, terms: own }]
  return [{ term: right, terms: [...own, right], repaired: writtenAs(part, right) }]
}

/** The caller is shown a word, not a stem. */
function writtenAs(part: TermIndex, term: string): string {
  return findSurface(part.surfaces, findTerm(part.dictionary, term)) ?? term
}

/** `realestate` is read as two words where listings have them side by side more often. */
function splitWord(part: TermIndex, word: string, rows: number): [string, string] | null {
  let best: [string, string] | null = null
  let most = rows / 2
  for (let at = MIN_SPLIT_CHARACTERS; at <= word.length - MIN_SPLIT_CHARACTERS; at += 1) {
    const left = toTerm(word.slice(0, at))
    // Hardly any start of a word is one too: its rest then needs no stemming.
    if (rowsWith(part, left) === 0) continue
    const right = toTerm(word.slice(at))
    const together = rowsWithPair(part, left, right)
    if (together <= most) continue
    most = together
    best = [left, right]
  }
  return best
}

function mostAdjacent(part: TermIndex, words: readonly string[]): number {
  const rows = words.slice(1).map((word, at) => {
    return rowsWithPair(part, toTerm(words[at] ?? ''), toTerm(word))
  })
  return Math.max(0, ...rows)
}

/** A single character of an unspaced script stands at the start of its pairs. */
function unspacedTerms(part: TermIndex, pair: string): string[] {
  if (rowsWith(part, pair) > 0) return [pair]
  return [...pair].length === 1 ? completions(part, pair, MAX_COMPLETIONS) : []
}

function known(part: TermIndex, terms: readonly string[]): string[] {
  return terms.filter((term) => rowsWith(part, term) > 0)
}
