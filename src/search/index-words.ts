import { findPairTerm, findTerm, termAt, termsWithPrefix } from './term-dictionary.ts'
import { rowsOf, type TermIndex } from './term-index.ts'

/** How many rows hold a term; 0 for one that is not in the index. */
export function rowsWith(part: TermIndex, term: string): number {
  const number = findTerm(part.dictionary, term)
  return number < 0 ? 0 : rowsOf(part, number)
}

/** How many rows hold two terms side by side, in either order. */
export function rowsWithPair(part: TermIndex, a: string, b: string): number {
  const { dictionary } = part
  const left = findTerm(dictionary, a)
  if (left < 0) return 0
  const pair = findPairTerm(dictionary, left, findTerm(dictionary, b))
  return pair < 0 ? 0 : rowsOf(part, pair)
}

/** The terms that start with `prefix`, the most frequent first. */
export function completions(part: TermIndex, prefix: string, most: number): string[] {
  const [first, end] = termsWithPrefix(part.dictionary, prefix)
  const best: number[] = []
  for (let number = first; number < end; number += 1) {
    const rows = rowsOf(part, number)
    if (best.length === most && rows <= rowsOf(part, best[most - 1] ?? first)) continue
    const place = best.findIndex((other) => rowsOf(part, other) < rows)
    best.splice(place < 0 ? best.length : place, 0, number)
    if (best.length > most) best.pop()
  }
  return best.map((number) => termAt(part.dictionary, number))
}
