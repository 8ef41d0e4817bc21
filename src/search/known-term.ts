import { pairTerm } from './pair-term.ts'
import { findSurface } from './surface-table.ts'
import { findPairTerm, findTerm, termAt, termsWithPrefix } from './term-dictionary.ts'
import { rowsOf, type TermIndex } from './term-index.ts'

/** A term as an index knows it, looked up once. */
export interface KnownTerm {
  text: string
  /** Its number in the index, or -1. */
  number: number
  /** How many rows hold it; 0 for one that is not in the index. */
  rows: number
}

export function lookUp(part: TermIndex, text: string): KnownTerm {
  const number = findTerm(part.dictionary, text)
  return { text, number, rows: number < 0 ? 0 : rowsOf(part, number) }
}

/** The term as listings write it: the caller is shown a word, not a stem. */
export function writtenAs(part: TermIndex, { text, number }: KnownTerm): string {
  return findSurface(part.surfaces, number) ?? text
}

/** The pair of two terms as a term, in either order. */
export function lookUpPair(part: TermIndex, a: KnownTerm, b: KnownTerm): KnownTerm {
  const number = findPairTerm(part.dictionary, a.number, b.number)
  return { text: pairTerm(a.text, b.text), number, rows: number < 0 ? 0 : rowsOf(part, number) }
}

/** How many rows hold two terms side by side, in either order. */
export function rowsTogether(part: TermIndex, a: KnownTerm, b: KnownTerm): number {
  return lookUpPair(part, a, b).rows
}

/** The terms that start with `prefix`, the most frequent first. */
export function completions(part: TermIndex, prefix: string, most: number): KnownTerm[] {
  const [first, end] = termsWithPrefix(part.dictionary, prefix)
  const best: { number: number; rows: number }[] = []
  for (let number = first; number < end; number += 1) {
    const rows = rowsOf(part, number)
    if (best.length === most && rows <= (best[most - 1]?.rows ?? 0)) continue
    const place = best.findIndex((other) => other.rows < rows)
    best.splice(place < 0 ? best.length : place, 0, { number, rows })
    if (best.length > most) best.pop()
  }
  return best.map(({ number, rows }) => ({ text: termAt(part.dictionary, number), number, rows }))
}
