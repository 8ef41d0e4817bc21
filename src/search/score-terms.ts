import type { ScoreScratch } from './index-part.ts'
import { findTerm } from './term-dictionary.ts'
import type { TermIndex } from './term-index.ts'

/**
 * Adds up the text score of every row that holds one of the terms: any of them is enough.
 * @returns how many rows match; they are the first that many of `scratch.matches`
 */
export function scoreTerms(
  index: TermIndex,
  terms: readonly string[],
  scratch: ScoreScratch,
): number {
  let count = 0
  for (const term of terms) {
    const number = findTerm(index.dictionary, term)
    if (number >= 0) count = addTerm(index, number, scratch, count)
  }
  return count
}

/** The innermost loop of the engine: three array reads and a write for each posting. */
function addTerm(
  { postingStarts, postingRows, postingImpacts }: TermIndex,
  number: number,
  { scores, matches }: ScoreScratch,
  matched: number,
): number {
  const end = postingStarts[number + 1] ?? 0
  let count = matched
  for (let at = postingStarts[number] ?? 0; at < end; at += 1) {
    const row = postingRows[at] ?? 0
    const score = scores[row] ?? 0
    if (score === 0) {
      matches[count] = row
      count += 1
    }
    scores[row] = score + (postingImpacts[at] ?? 0)
  }
  return count
}

/** Sets the scores back to 0 for the next search. */
export function clearScores({ scores, matches }: ScoreScratch, count: number): void {
  // Many small writes cost more than one sweep once most rows match.
  if (count > scores.length / 4) scores.fill(0)
  else for (let at = 0; at < count; at += 1) scores[matches[at] ?? 0] = 0
}
