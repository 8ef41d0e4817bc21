import { largestOf } from '../../domain/wire/json.ts'
import type { KnownTerm, SearchIndex } from '../index/index-file.ts'
import { firstPlace, readPostings } from '../index/terms.ts'
import type { Word } from '../words/split-text.ts'
import { findPhrases } from '../words/word-sets.ts'
import { lookUpWord, NAME_OR_LABELS, rowsNamed } from './known-terms.ts'

/** A query with more words than this tells a story, and only part of it names the task. */
const MOST_WORDS = 8
/** A query with a larger share of meaningful words than this only names its task. */
const DENSE = 0.5
/** A task is named within this many consecutive words. */
const SPAN = 5
/** The share of its span's best score that a word must reach. */
const STRONG = 0.3
/** Scores for a word that is related to no other word (`bond`), or is in no name, tag or category (`named`). */
const LEAST = { bond: 0.05, named: 0.2 }
/** How many listings must have both words: a single listing may have them by chance. */
const MIN_MEETINGS = 2
/** How many listings are read: the best-ranked ones are enough to show which words co-occur. */
const MOST_ROWS = 1 << 15
/**
 * Requests contain phrases such as `I need a way for it to` or `is there something that could`:
 * many consecutive words without meaning. Each such word adds three tenths to the weight of
 * the next meaningful word, and less to the words after it.
 */
const ASKING = { each: 0.3, most: 12, fade: 0.2, words: 4 }

interface TellingWord {
  word: Word
  /** The number of words without meaning right before this word. */
  before: number
  /** The first listings that have the word, and the share of these that have it in name, tags or categories. */
  rows: Uint32Array
  named: number
}

/**
 * The words in a long prompt that name its task: the five-word span whose words are close and co-occur in listings more
 * often than by chance (normalised pointwise mutual information, over their distance). Words in listings' names are
 * more likely a task than those found only in summaries.
 * @param kept the query's meaningful words
 * @param all all words of the query
 */
export function belongingWords(
  index: SearchIndex,
  kept: readonly Word[],
  all: readonly Word[],
): readonly Word[] {
  if (!isLong(kept)) return kept
  const telling = readTelling(index, kept, all)
  if (telling.length === 0 || telling.length > DENSE * all.length) return kept
  const looked = Math.min(index.organicRows, MOST_ROWS)
  const requested = afterAsking(telling)
  const scores = telling.map((one, at) => {
    const first = Math.max(0, at - SPAN)
    const bonds = telling.slice(first, at + SPAN + 1).map((other, place) => {
      const distance = Math.abs(first + place - at)
      return distance === 0 ? LEAST.bond : bondOf(one.rows, other.rows, looked) / distance
    })
    return sumOf(bonds) * (LEAST.named + one.named) * (requested[at] ?? 1)
  })
  const sums = scores.map((_, at) => sumOf(scores.slice(at, at + SPAN)))
  const start = sums.indexOf(largestOf(sums, 0))
  const span = scores.slice(start, start + SPAN)
  const best = largestOf(span, 0)
  const strong = telling
    .slice(start, start + SPAN)
    .filter((_, at) => (span[at] ?? 0) >= STRONG * best)
  return [...new Map(strong.map(({ word }) => [word.whole, word])).values()]
}

export function isLong(words: readonly Word[]): boolean {
  return new Set(words.map(({ whole }) => whole)).size > MOST_WORDS
}

/** The words that some listing has, in query order. */
function readTelling(
  index: SearchIndex,
  kept: readonly Word[],
  all: readonly Word[],
): TellingWord[] {
  const known = new Map<string, Pick<TellingWord, 'rows' | 'named'>>()
  const read = ({ whole }: Word) => {
    const { rows, codes } = readPostings(index.terms, lookUpWord(index, whole).number)
    const named = codes.filter(
      (code) => (index.terms.scoreTableFields[code] ?? 0) & NAME_OR_LABELS,
    ).length
    const end = firstPlace(0, rows.length, (place) => (rows[place] ?? 0) >= MOST_ROWS)
    const found = { rows: rows.slice(0, end), named: named / Math.max(1, rows.length) }
    known.set(whole, found)
    return found
  }
  const saying = new Set(kept)
  const telling: TellingWord[] = []
  let before = 0
  for (const word of all) {
    before += 1
    if (!saying.has(word)) continue
    const found = known.get(word.whole) ?? read(word)
    if (found.rows.length > 0) telling.push({ word, before: before - 1, ...found })
    before = 0
  }
  return telling
}

/** How much more each word weighs because of the meaningless words before it. */
function afterAsking(telling: readonly TellingWord[]): number[] {
  const { each, most, fade, words } = ASKING
  return telling.map((_, at) => {
    const first = Math.max(0, at - words + 1)
    const runs = telling
      .slice(first, at + 1)
      .map(({ before }, place) => Math.min(before, most) * (1 - fade * (at - first - place)))
    return 1 + each * largestOf(runs, 0)
  })
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

/** Normalised pointwise mutual information of two words, from 0 (by chance) to 1 (always together). */
function bondOf(a: Uint32Array, b: Uint32Array, looked: number): number {
  if (a === b) return 0
  let both = 0
  for (let [at, other] = [0, 0]; at < a.length && other < b.length; ) {
    const difference = (a[at] ?? 0) - (b[other] ?? 0)
    if (difference === 0) both += 1
    if (difference <= 0) at += 1
    if (difference >= 0) other += 1
  }
  if (both < MIN_MEETINGS || both === looked) return 0
  const bond = Math.log((both * looked) / (a.length * b.length))
  return Math.max(0, bond / -Math.log(both / looked))
}

/**
 * The share of a word's rows that must have it in their name: `without` may come before anything,
 * but before a name it means that other sellers are wanted.
 */
const NAMED = 0.2
/** In a query with more words than this, `not` hardly ever comes before a name, unless the name is capitalised. */
export const MAX_SHORT_WORDS = 12

/** A query without the names that it excludes, and those names. */
interface Wanted {
  words: readonly Word[]
  excluded: readonly KnownTerm[]
}

/**
 * `an alternative to Jira` or `without Twilio` means that other sellers are wanted. Before a word
 * that hardly any listing has in its name, `without` is an ordinary requirement, and the word is
 * searched for.
 */
export function findExcluded(index: SearchIndex, words: readonly Word[]): Wanted {
  const { excluding, stop } = index.words
  const [markers, named] = [new Set<Word>(), new Set<Word>()]
  const excluded: KnownTerm[] = []
  const spoken = ['', ...words.map(({ whole }) => whole)].join(' ')
  for (const { index: at, groups = {} } of spoken.matchAll(excluding.pattern)) {
    const { written = '', marker = '' } = groups
    const first = spoken.slice(0, at).split(' ').length - 1
    const end = first + written.split(' ').length
    // `instead of a scan` contains no name.
    const isSure = excluding.sure.has(marker) && !/ an?$/.test(written)
    const [name, ...others] = namesFrom(words, end)
    if (name === undefined || !isName(index, name, isSure)) continue
    // `no api key` is a filter.
    const phrases = findPhrases(words, index.words.phrases)
    if (words.slice(first, end).some((word) => phrases.has(word))) continue
    const names = [name, ...others]
    for (const word of words.slice(first, end)) markers.add(word)
    for (const word of names) {
      named.add(word)
      excluded.push(lookUpWord(index, word.whole))
    }
  }
  const others = words.filter((word) => !markers.has(word))
  const wanted = others.filter((word) => !named.has(word))
  // If a query only wants an alternative to a name, listings that mention the name answer it.
  const says = wanted.some(({ whole }) => !stop.has(whole) && !index.words.generic.has(whole))
  return { words: says ? wanted : others, excluded }
}

/** The names from a position on: `not Google or Bing` has two. */
function namesFrom(words: readonly Word[], start: number): Word[] {
  const [name, or, ...others] = words.slice(start)
  if (name === undefined) return []
  return or?.whole === 'or' && others.length > 0 ? [name, ...namesFrom(words, start + 2)] : [name]
}

function isName(index: SearchIndex, { whole }: Word, isSure: boolean): boolean {
  const { rows } = lookUpWord(index, whole)
  if (rows === 0 || index.words.stop.has(whole)) return false
  if (isSure) return true
  return rowsNamed(index, 'organic', lookUpWord(index, whole)).length >= NAMED * rows
}

/** Notes that show how many rows are left out for each name. */
export function excludedNotes(index: SearchIndex, excluded: readonly KnownTerm[]): string[] {
  return excluded.map((term) => {
    const count = rowsNamed(index, 'organic', term).length
    const rows = count === 1 ? `the ${index.noun}` : `the ${count} ${index.noun}s`
    return `Left out ${rows} named “${term.written}”, because the question asks for other sellers.`
  })
}
