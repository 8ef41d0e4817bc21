import type { KnownTerm, SearchIndex } from '../index/index-shape.ts'
import { findPair, findTerm, pairText, rowsOf } from '../index/postings.ts'
import { wordAt, wordsWithPrefix } from '../index/word-table.ts'
import { stemWord } from '../words/stem-word.ts'
import { rememberWords } from './remember.ts'

/** The term of a word; stop words, which are kept in names, are terms as written. */
export const lookUpWord = rememberWords(tryWord)

/** The same for strings that are rarely words, and not worth caching. */
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

/** The words listings write that start with `prefix`, as terms: the most frequent first. */
export function completions(index: SearchIndex, prefix: string, most: number): KnownTerm[] {
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

/** The terms that start with a character of an unspaced script. */
export function unspacedCompletions(index: SearchIndex, prefix: string, most: number): KnownTerm[] {
  const [first, end] = wordsWithPrefix(index.terms.words, prefix)
  const found: KnownTerm[] = []
  for (let number = first; number < end && found.length < most; number += 1) {
    const text = wordAt(index.terms.words, number)
    const rows = rowsOf(index.terms, number)
    if (rows > 0) found.push({ text, written: text, number, rows })
  }
  return found
}
