import type { KnownTerm, SearchIndex } from '../index/index-shape.ts'
import { readPostings } from '../index/postings.ts'
import type { Word } from '../words/split-text.ts'
import { lookUpWord } from './known-term.ts'

/** A query with more words than this tells a story, of which a part is the task. */
const MOST_WORDS = 8
/** Words that are kept of a story at least and at most. */
const LEAST_KEPT = 3
const MOST_KEPT = 8
/** What a word's bond must be of the strongest one's. */
const STRONG = 0.3
/** Listings that are looked at: those of the best standing tell enough of which words meet. */
const MOST_ROWS = 1 << 15

/**
 * Of a long prompt the words that belong together in listings: they name the task, while the story
 * around it meets them by chance. A word's bond is what it tells of the others by standing in the
 * same listings (pointwise mutual information, weighed by how often they meet), over the root of how
 * often it stands there at all.
 */
export function belongingWords(index: SearchIndex, words: readonly Word[]): readonly Word[] {
  if (new Set(words.map(({ whole }) => whole)).size <= MOST_WORDS) return words
  const known = new Map<string, { term: KnownTerm; words: Word[] }>()
  for (const word of words) {
    const term = lookUpWord(index, word.whole)
    if (term.rows === 0) continue
    const found = known.get(term.text)
    if (found === undefined) known.set(term.text, { term, words: [word] })
    else found.words.push(word)
  }
  const rows = [...known.values()]
  if (rows.length === 0) return words
  const bonds = bondsOf(
    index,
    rows.map(({ term }) => term),
  )
  const ranked = rows
    .map((row, at) => ({ ...row, bond: bonds[at] ?? 0 }))
    .sort((a, b) => b.bond - a.bond)
  const [best] = ranked
  const kept = ranked
    .slice(0, MOST_KEPT)
    .filter(({ bond }, at) => at < LEAST_KEPT || bond >= STRONG * (best?.bond ?? 0))
  const first = new Set(kept.flatMap((row) => row.words.slice(0, 1)))
  return words.filter((word) => first.has(word))
}

function bondsOf(index: SearchIndex, terms: readonly KnownTerm[]): number[] {
  const sampled = Math.min(index.organic.rows, MOST_ROWS)
  const { alone, both } = countMeetings(index, terms, sampled)
  return terms.map((_, a) => {
    let sum = 0
    terms.forEach((_, b) => {
      const together = both[Math.min(a, b) * terms.length + Math.max(a, b)] ?? 0
      if (a === b || together === 0) return
      const told = Math.log((together * sampled) / ((alone[a] ?? 1) * (alone[b] ?? 1)))
      if (told > 0) sum += together * told
    })
    return sum / Math.sqrt(Math.max(1, alone[a] ?? 1))
  })
}

/** In how many of the first rows each term stands, and each two of them. */
function countMeetings(index: SearchIndex, terms: readonly KnownTerm[], sampled: number) {
  const alone = new Uint32Array(terms.length)
  const both = new Uint32Array(terms.length ** 2)
  /** By row, the terms it has that were read before. */
  const held = new Map<number, number[]>()
  terms.forEach(({ number }, term) => {
    for (const row of readPostings(index.organic, number).rows) {
      if (row >= sampled) break
      alone[term] = (alone[term] ?? 0) + 1
      const others = held.get(row)
      if (others === undefined) held.set(row, [term])
      else {
        for (const other of others) {
          const place = other * terms.length + term
          both[place] = (both[place] ?? 0) + 1
        }
        others.push(term)
      }
    }
  })
  return { alone, both }
}
