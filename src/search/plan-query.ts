import { MAX_QUERY_CHARACTERS } from '../domain/search-query.ts'
import { correctWord } from './correct-word.ts'
import type { IndexPart } from './index-part.ts'
import { splitText, type Word } from './split-text.ts'
import { STOP_WORDS } from './stop-words.ts'
import { findTerm, termAt, termsWithPrefix } from './term-dictionary.ts'
import { toTerm } from './to-term.ts'

/** What a query text is searched as: distinct terms, and what the caller should be told. */
export interface QueryPlan {
  terms: readonly string[]
  notes: readonly string[]
}

export const MAX_QUERY_TERMS = 32
const MAX_PREFIX_TERMS = 8
const MIN_PREFIX_CHARACTERS = 2
/** A word in this many listings or fewer may be a slip that somebody else made too. */
const RARE_ROWS = 2
const CORRECTION_RATIO = 8
/** Corrections are the costliest step, so a flood of unknown words doesn't get more of them. */
const MAX_CORRECTIONS = 4

interface Draft {
  part: IndexPart
  terms: Set<string>
  corrected: string[]
}

/** @param part the organic rows: only their words decide what is known, rare or misspelt */
export function planQuery(part: IndexPart, text: string): QueryPlan {
  const draft: Draft = { part, terms: new Set(), corrected: [] }
  const words = splitText([...text].slice(0, MAX_QUERY_CHARACTERS).join(''))
  const telling = words.filter((word) => !STOP_WORDS.has(word.whole))
  const used = telling.length > 0 ? telling : words
  for (const [at, word] of used.entries()) addWord(draft, word, at === used.length - 1)
  for (const [at, word] of words.entries()) addJoined(draft, words[at - 1], word)
  return { terms: [...draft.terms].slice(0, MAX_QUERY_TERMS), notes: notesOf(draft) }
}

function addWord(draft: Draft, word: Word, last: boolean): void {
  if (draft.terms.size >= MAX_QUERY_TERMS) return
  switch (word.style) {
    case 'plain':
      addPlain(draft, word.whole, last)
      break
    case 'camel':
      if (isKnown(draft, toTerm(word.whole))) draft.terms.add(toTerm(word.whole))
      else for (const part of word.parts) addPlain(draft, part, last)
      break
    case 'hyphen':
      addHyphenated(draft, word, last)
      break
    case 'dotted':
      if (isKnown(draft, word.whole)) draft.terms.add(word.whole)
      for (const part of word.parts) if (isKnown(draft, toTerm(part))) draft.terms.add(toTerm(part))
      break
    case 'unspaced':
      for (const pair of word.parts) addUnspaced(draft, pair)
  }
}

function addHyphenated(draft: Draft, word: Word, last: boolean): void {
  const whole = toTerm(word.whole)
  const letters = word.parts.some((part) => part.length === 1)
  if (letters || isKnown(draft, whole)) draft.terms.add(whole)
  if (letters) return
  for (const part of word.parts) if (!STOP_WORDS.has(part)) addPlain(draft, part, last)
}

function addPlain(draft: Draft, word: string, last: boolean): void {
  const term = STOP_WORDS.has(word) ? word : toTerm(word)
  const rows = rowsWith(draft.part, term)
  if (rows > 0) draft.terms.add(term)
  if (rows > RARE_ROWS) return
  if (rows === 0 && last && addPrefix(draft, word)) return
  if (draft.corrected.length >= MAX_CORRECTIONS) return
  const atLeast = Math.max(RARE_ROWS + 1, rows * CORRECTION_RATIO)
  const right = correct(draft.part, term, atLeast)
  if (right === null) return
  draft.terms.add(right)
  draft.corrected.push(right)
}

function correct(part: IndexPart, term: string, atLeast: number): string | null {
  return correctWord(part.dictionary, term, (number) => rowsOf(part, number), atLeast)
}

/** The last word may be unfinished: the most frequent terms that start with it stand in. */
function addPrefix(draft: Draft, word: string): boolean {
  if (word.length < MIN_PREFIX_CHARACTERS) return false
  const { dictionary } = draft.part
  const [first, end] = termsWithPrefix(dictionary, word)
  const numbers = Array.from({ length: end - first }, (_, at) => first + at)
  numbers.sort((a, b) => rowsOf(draft.part, b) - rowsOf(draft.part, a) || a - b)
  for (const number of numbers.slice(0, MAX_PREFIX_TERMS))
    draft.terms.add(termAt(dictionary, number))
  return end > first
}

/** A single character of an unspaced script is found at the start of a pair. */
function addUnspaced(draft: Draft, pair: string): void {
  if (isKnown(draft, pair)) draft.terms.add(pair)
  else if ([...pair].length === 1) {
    const { dictionary } = draft.part
    const [first, end] = termsWithPrefix(dictionary, pair)
    for (let number = first; number < Math.min(end, first + MAX_PREFIX_TERMS); number += 1) {
      draft.terms.add(termAt(dictionary, number))
    }
  }
}

/** `power point` also asks for `powerpoint`, where the index knows it. */
function addJoined(draft: Draft, left: Word | undefined, right: Word): void {
  if (left?.style !== 'plain' || right.style !== 'plain') return
  const joined = toTerm(left.whole + right.whole)
  if (rowsWith(draft.part, joined) >= RARE_ROWS) draft.terms.add(joined)
}

function isKnown({ part }: Draft, term: string): boolean {
  return findTerm(part.dictionary, term) >= 0
}

function rowsWith(part: IndexPart, term: string): number {
  const number = findTerm(part.dictionary, term)
  return number < 0 ? 0 : rowsOf(part, number)
}

function rowsOf({ postingStarts }: IndexPart, number: number): number {
  return (postingStarts[number + 1] ?? 0) - (postingStarts[number] ?? 0)
}

function notesOf({ terms, corrected }: Draft): string[] {
  if (terms.size === 0) return ['Nothing to search for: no word of the query is in any listing.']
  if (corrected.length === 0) return []
  return [`Showing results for ${corrected.map((word) => `“${word}”`).join(', ')}.`]
}
