import type { KnownTerm, SearchIndex } from '../index/index-shape.ts'
import { type RangeName, readPostings } from '../index/postings.ts'
import type { Word } from '../words/split-text.ts'
import { allRows, setBit } from './filter-rows.ts'
import { lookUpWord } from './known-term.ts'

/** `without` may precede anything: before a name it asks for others. */
const NAMED = 0.2
/** In a longer query `not` hardly ever precedes a name, unless that is capitalised. */
export const MAX_SHORT_WORDS = 12
/** Bits of the fields that name a row's listing: its name, for an operation also labels. */
const NAME = 0b001
const NAME_OR_LABELS = 0b011
/** A verb is not a name. */
const DOING = /(?:ing|ed)$/

/** A query without the names it excludes, and those names. */
export interface Wanted {
  words: readonly Word[]
  excluded: readonly KnownTerm[]
}

/**
 * `an alternative to Jira`, `without Twilio`: such a query wants others. Before a word that hardly
 * any listing has in its name, `without` is an ordinary requirement, and the word is searched for.
 */
export function findExcluded(index: SearchIndex, words: readonly Word[], text: string): Wanted {
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
    if (name === undefined || !isName(index, name, { isSure, words, text })) continue
    const names = [name, ...others]
    for (const word of words.slice(first, end)) markers.add(word)
    for (const word of names) {
      named.add(word)
      excluded.push(lookUpWord(index, word.whole))
    }
  }
  const others = words.filter((word) => !markers.has(word))
  const wanted = others.filter((word) => !named.has(word))
  // A query only for an alternative is answered by listings that mention the name.
  const says = wanted.some(({ whole }) => !stop.has(whole) && !index.words.generic.has(whole))
  return { words: says ? wanted : others, excluded }
}

/** A name, and those that `or` joins to it: `not Google or Bing` are two. */
function namesFrom(words: readonly Word[], start: number): Word[] {
  const [name, or, ...others] = words.slice(start)
  if (name === undefined) return []
  return or?.whole === 'or' && others.length > 0 ? [name, ...namesFrom(words, start + 2)] : [name]
}

function isName(
  index: SearchIndex,
  { whole, parts }: Word,
  { isSure, words, text }: { isSure: boolean; words: readonly Word[]; text: string },
): boolean {
  const { rows } = lookUpWord(index, whole)
  if (rows === 0 || index.words.stop.has(whole)) return false
  const [start = whole] = parts
  const capital = `${start.slice(0, 1).toUpperCase()}${start.slice(1)}`
  if (words.length > MAX_SHORT_WORDS && !text.includes(capital)) return false
  if (isSure) return true
  if (DOING.test(whole)) return false
  return rowsNamed(index, 'organic', lookUpWord(index, whole)).length >= NAMED * rows
}

/** The rows of a range whose listing has the term in its name. */
function rowsNamed(index: SearchIndex, range: RangeName, { number }: KnownTerm): number[] {
  const { rows, codes } = readPostings(index.terms, number, range)
  const fields = index.noun === 'operation' ? NAME_OR_LABELS : NAME
  return Array.from(rows).filter(
    (_, at) => (index.terms.scoreTableFields[codes[at] ?? 0] ?? 0) & fields,
  )
}

/** Leaves out the rows of the sellers that the query excludes. */
export function keepWanted(
  index: SearchIndex,
  range: RangeName,
  { excluded, bits }: { excluded: readonly KnownTerm[]; bits: Uint32Array | null },
): Uint32Array | null {
  if (excluded.length === 0) return bits
  const kept = bits?.slice() ?? allRows(index)
  for (const term of excluded)
    for (const row of rowsNamed(index, range, term)) setBit(kept, row, false)
  return kept
}

/** How many rows are left out for each name. */
export function excludedNotes(index: SearchIndex, excluded: readonly KnownTerm[]): string[] {
  return excluded.map((term) => {
    const count = rowsNamed(index, 'organic', term).length
    const rows = count === 1 ? `the ${index.noun}` : `the ${count} ${index.noun}s`
    return `Left out ${rows} named “${term.written}”, as the question asks for others.`
  })
}
