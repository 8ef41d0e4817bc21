import { findTerm, termAt, termsWithPrefix } from './term-dictionary.ts'
import { rowsOf, type TermIndex } from './term-index.ts'

/** How many rows hold a term; 0 for one that is not in the index. */
export function rowsWith(part: TermIndex, term: string): number {
  const number = findTerm(part.dictionary, term)
  return number < 0 ? 0 : rowsOf(part, number)
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
