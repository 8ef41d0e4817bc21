import { isListingId } from '../../domain/listing/listing-text.ts'
import { TERM_WEIGHTS } from '../../domain/search/search-rank.ts'
import type { KnownTerm, SearchIndex } from '../index/index-file.ts'
import {
  findPair,
  findTerm,
  findWord,
  pairText,
  type RangeName,
  readPostings,
  rowsOf,
  type WordTable,
  wordAt,
  wordsWithPrefix,
} from '../index/terms.ts'
import { stemWord, type Word } from '../words/split-text.ts'

/** One part of a query, at its position. */
export interface QueryTerm {
  /** The part as typed. */
  requested: string
  /** The term by which related words and pairs with neighbours are found; absent if the part has no such term. */
  term?: KnownTerm
  /** All search terms for this part, each with its weight. */
  terms: readonly (KnownTerm & { weight: number })[]
  /** The correction, if the part was taken for a typo. */
  repaired?: KnownTerm
  /** Set if no listing has the part. */
  unknown?: true
}

const MAX_COMPLETIONS = 8
const MIN_COMPLETED_CHARACTERS = 2
/** How much longer a form of a word may be, and how long a word must be to have forms. */
const LONGEST_ENDING = 4
const LEAST_STEM = 5
const MAX_FORMS = 3

const { requested: REQUESTED } = TERM_WEIGHTS

/** What a word that no listing has may be taken for. */
interface Guess {
  /** Whether the word is the query's last, and so may be the start of a longer one. */
  isLast: boolean
  maySlip: boolean
}

/** Turns a query's word into terms that listings have. */
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

/** If listings write the parts as one word, that word is searched for too. */
function hyphenTerms(index: SearchIndex, word: Word, guess: Guess): QueryTerm[] {
  const whole = lookUpWord(index, word.whole)
  // The `e` in `e-mail` adds nothing to the word itself.
  const isTelling = (part: string) => part.length > 1 || whole.rows === 0
  const parts = word.parts.filter((part) => !index.words.stop.has(part) && isTelling(part))
  const all = parts.flatMap((part) => plainTerms(index, part, { ...guess, isLast: false }))
  // Of a name such as `gpt-4o`, the known part is enough.
  const known = all.filter(({ unknown }) => unknown !== true)
  const queryTerms = known.length > 0 ? known : all
  return whole.rows > 0
    ? [{ requested: word.whole, terms: weigh(REQUESTED, [whole]) }, ...queryTerms]
    : queryTerms
}

/** The terms for the pieces of an id or a domain, which need no guessing. */
function dottedTerms(index: SearchIndex, { whole, parts }: Word): QueryTerm[] {
  const pieces = parts
    .filter((part) => !index.words.stop.has(part))
    .map((part) => lookUpWord(index, part))
    .filter(({ rows }) => rows > 0)
  if (pieces.length === 0 && !isListingId(whole))
    return [{ requested: whole, terms: [], unknown: true }]
  return pieces.map((term) => unitOf(term.written, term))
}

function plainTerms(index: SearchIndex, word: string, guess: Guess): QueryTerm[] {
  const term = lookUpWord(index, word)
  if (term.rows > 0) return [unitOf(word, term)]
  const isEveryday = index.words.isEveryday(word)
  const found =
    guess.isLast && !isEveryday && word.length >= MIN_COMPLETED_CHARACTERS
      ? completions(index, word, MAX_COMPLETIONS)
      : []
  if (found.length > 0) return [{ requested: word, terms: weigh(REQUESTED, found) }]
  const right = guess.maySlip ? repairWord(index, word) : null
  if (right !== null)
    return [{ requested: word, term: right, terms: weigh(REQUESTED, [right]), repaired: right }]
  const apart = readApart(index, word)
  if (apart !== null) return [apart]
  const longer = formsOf(index, word)
  if (longer.length > 0) return [{ requested: word, terms: weigh(REQUESTED, longer) }]
  return [{ ...unitOf(word, term), unknown: true }]
}

/** Two words in a listing's name, if the query writes them as one: `huggingface`. */
const readApart = rememberWords((index, word): QueryTerm | null => {
  for (let at = MIN_SHARED; at <= word.length - MIN_SHARED; at += 1) {
    const [left, right] = [word.slice(0, at), word.slice(at)].map((part) => tryWord(index, part))
    if (left === undefined || right === undefined || left.rows === 0 || right.rows === 0) continue
    const named = new Set(rowsNamed(index, 'organic', left))
    if (!rowsNamed(index, 'organic', right).some((row) => named.has(row))) continue
    const terms = weigh(REQUESTED, [left, right])
    return { requested: word, terms, repaired: lookUpPair(index, left, right) }
  }
  return null
})

/** A bit for each field that names a row's listing: its name, and for an operation its labels too. */
const NAME = 0b001
export const NAME_OR_LABELS = 0b011

/** The rows in a range whose listing has the term in its name. */
export function rowsNamed(index: SearchIndex, range: RangeName, { number }: KnownTerm): number[] {
  const { rows, codes } = readPostings(index.terms, number, range)
  const fields = index.noun === 'operation' ? NAME_OR_LABELS : NAME
  return Array.from(rows).filter(
    (_, at) => (index.terms.scoreTableFields[codes[at] ?? 0] ?? 0) & fields,
  )
}

/** Words in listings that are this word with an ending: `complexity` for `complex`. */
function formsOf(index: SearchIndex, word: string): KnownTerm[] {
  if (word.length < LEAST_STEM) return []
  const isForm = ({ written }: KnownTerm) => written.length <= word.length + LONGEST_ENDING
  return completions(index, word, MAX_FORMS).filter(isForm)
}

/** The term for a word in a script without spaces; a single character matches all pairs that start with it. */
function unspacedTerm(index: SearchIndex, { whole, parts }: Word): QueryTerm {
  const terms = parts.flatMap((pair) => {
    const term = lookUpWord(index, pair)
    const isSingle = term.rows === 0 && [...pair].length === 1
    return isSingle ? unspacedCompletions(index, pair, MAX_COMPLETIONS) : [term]
  })
  const isKnown = terms.some(({ rows }) => rows > 0)
  return { requested: whole, terms: weigh(REQUESTED, terms), ...(!isKnown && { unknown: true }) }
}

function unitOf(requested: string, term: KnownTerm): QueryTerm {
  return { requested, term, terms: weigh(REQUESTED, [term]) }
}

function weigh(weight: number, terms: readonly KnownTerm[]) {
  return terms.map((term) => ({ ...term, weight }))
}

/** A word's term, cached; a stop word has none. */
export const lookUpWord = rememberWords(tryWord)

/** Like `lookUpWord` without a cache, for strings that are rarely words. */
export function tryWord(index: SearchIndex, word: string): KnownTerm {
  const text = index.words.stop.has(word) ? word : stemWord(word)
  const number = findTerm(index.terms, text)
  return { text, written: word, number, rows: rowsOf(index.terms, number) }
}

/** The pair of two terms as a term, in either order. */
export function lookUpPair(index: SearchIndex, a: KnownTerm, b: KnownTerm): KnownTerm {
  const number = findPair(index.terms, a.number, b.number)
  return {
    text: pairText(a.text, b.text),
    written: `${a.written} ${b.written}`,
    number,
    rows: rowsOf(index.terms, number),
  }
}

/** The words in listings that start with `prefix`, as terms, the most frequent first. */
function completions(index: SearchIndex, prefix: string, most: number): KnownTerm[] {
  const { words, rows } = index.spellings
  const [first, end] = wordsWithPrefix(words, prefix)
  const found: number[] = []
  for (let at = first; at < end; at += 1) {
    const place = found.findIndex((other) => (rows[other] ?? 0) < (rows[at] ?? 0))
    found.splice(place < 0 ? found.length : place, 0, at)
    if (found.length > 2 * most) found.pop()
  }
  const terms = found.map((at) => lookUpWord(index, wordAt(words, at)))
  const firstOfEach = new Map(terms.toReversed().map((term) => [term.text, term]))
  return terms.filter((term) => firstOfEach.get(term.text) === term).slice(0, most)
}

/** The terms that start with a character from a script without spaces. */
function unspacedCompletions(index: SearchIndex, prefix: string, most: number): KnownTerm[] {
  const [first, end] = wordsWithPrefix(index.terms.words, prefix)
  const found: KnownTerm[] = []
  for (let number = first; number < end && found.length < most; number += 1) {
    const text = wordAt(index.terms.words, number)
    const rows = rowsOf(index.terms, number)
    if (rows > 0) found.push({ text, written: text, number, rows })
  }
  return found
}

/** Longest word whose neighbours are searched for. */
const MAX_NEAR_CHARACTERS = 24
/** A word to correct has at least this many letters: shorter ones have too many neighbours one edit away. */
const MIN_CHARACTERS = 4
const PLAIN = /^[a-z][a-z0-9]+$/
const MAX_CLOSEST = 3
/** How many first letters a close word must share. */
const MIN_SHARED = 3
const SHARED_PART = 2 / 3

/**
 * The correction for a word: among the words one edit away with the same first letter, the one in
 * most listings. Everyday words are not typos, and no word is a typo of a stop word.
 */
const repairWord = rememberWords((index, word): KnownTerm | null => {
  if (index.words.isEveryday(word)) return null
  const [nearest] = spellingsNear(index, word)
  return nearest === undefined ? null : lookUpWord(index, nearest)
})

/** The words in listings that are closest to a word that no listing has, for a note. */
export function closestWords(index: SearchIndex, word: string): string[] {
  const near = spellingsNear(index, word)
  if (near.length > 0) return near.slice(0, MAX_CLOSEST)
  const least = Math.max(MIN_SHARED, Math.ceil(word.length * SHARED_PART))
  for (let shared = word.length - 1; shared >= least; shared -= 1) {
    const found = completions(index, word.slice(0, shared), MAX_CLOSEST)
    const words = found.map(({ written }) => written).filter((text) => !index.words.stop.has(text))
    if (words.length > 0) return words
  }
  return []
}

/** The listings' words one edit away with the same first letter, the most frequent first. */
function spellingsNear({ spellings, words }: SearchIndex, word: string): string[] {
  const { length } = word
  if (length < MIN_CHARACTERS || length > MAX_NEAR_CHARACTERS || !PLAIN.test(word)) return []
  const rows = (text: string) => spellings.rows[findWord(spellings.words, text)] ?? 0
  const near = nearWords(spellings.words, word)
  // Listings may have only the plural of the word that was meant: `astroid`.
  return (near.length > 0 ? near : nearWords(spellings.words, `${word}s`))
    .filter((text) => rows(text) > 0 && !words.stop.has(text))
    .sort((a, b) => rows(b) - rows(a))
}

/** The table's words that have the given word's first letter and are one edit away from it. */
function nearWords(table: WordTable, word: string): string[] {
  const { starts } = table
  const [first, end] = wordsWithPrefix(table, word.slice(0, 1))
  const found: string[] = []
  for (let number = first; number < end; number += 1) {
    const length = (starts[number + 1] ?? 0) - (starts[number] ?? 0)
    if (Math.abs(length - word.length) <= 1 && isOneEditAway(table, number, word))
      found.push(wordAt(table, number))
  }
  return found
}

/**
 * Whether one edit, or swapping two letters, makes the two words equal.
 * @param number the number of a word at most one letter longer or shorter
 */
function isOneEditAway({ bytes, starts }: WordTable, number: number, word: string): boolean {
  const start = starts[number] ?? 0
  const length = (starts[number + 1] ?? 0) - start
  const same = (at: number, other: number) => bytes[start + at] === word.charCodeAt(other)
  let at = 0
  while (at < length && same(at, at)) at += 1
  let [rest, otherRest] = [length, word.length]
  while (rest > at && otherRest > at && same(rest - 1, otherRest - 1)) {
    rest -= 1
    otherRest -= 1
  }
  if (rest - at <= 1 && otherRest - at <= 1) return rest !== at || otherRest !== at
  return rest - at === 2 && otherRest - at === 2 && same(at, at + 1) && same(at + 1, at)
}

/** How many words are cached for one index, about a megabyte; one more word clears the cache. */
const MOST_WORDS = 8192

/** A cache by word: few queries repeat, but their words do, and an index never changes. */
export function rememberWords<Found>(
  findOut: (index: SearchIndex, word: string) => Found,
): (index: SearchIndex, word: string) => Found {
  const byIndex = new WeakMap<SearchIndex, Map<string, Found>>()
  return (index, word) => {
    const found = byIndex.get(index) ?? new Map<string, Found>()
    const known = found.get(word)
    if (known !== undefined) return known
    if (found.size === 0) byIndex.set(index, found)
    else if (found.size >= MOST_WORDS) found.clear()
    const made = findOut(index, word)
    found.set(word, made)
    return made
  }
}
