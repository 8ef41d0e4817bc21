import { FIELD_WEIGHTS, inverseDocumentFrequency } from '../domain/search-rank.ts'
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

/** Reads varints of a term's postings, one after the other. */
function createReader(bytes: Uint8Array, start: number) {
  let at = start
  return {
    at: () => at,
    next(): number {
      let number = 0
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at] ?? 0
        at += 1
        number |= (byte & 0x7f) << shift
        if (byte < 0x80) return number
      }
    },
  }
}

function addTerm(
  { postingStarts, postingBytes, palette, scoredRows }: TermIndex,
  number: number,
  scratch: ScoreScratch,
  matched: number,
): number {
  const reader = createReader(postingBytes, postingStarts[number] ?? 0)
  const rows = reader.next()
  const weigh = (weight: number) => weight * inverseDocumentFrequency(scoredRows, reader.next())
  const weights = {
    name: weigh(FIELD_WEIGHTS.name),
    labels: weigh(FIELD_WEIGHTS.labels),
    summary: weigh(FIELD_WEIGHTS.summary),
  }
  return addRows({ bytes: postingBytes, at: reader.at(), rows, palette, weights }, scratch, matched)
}

interface RowRun {
  bytes: Uint8Array
  at: number
  rows: number
  palette: Float32Array
  weights: { name: number; labels: number; summary: number }
}

/**
 * The innermost loop of the engine: for each row a distance and a palette number, mostly a byte
 * each, read in place because a call for each would cost more than the reading.
 */
function addRows(run: RowRun, { scores, matches }: ScoreScratch, matched: number): number {
  const { bytes, palette } = run
  const { name, labels, summary } = run.weights
  let { at } = run
  let row = 0
  let count = matched
  for (let left = run.rows; left > 0; left -= 1) {
    let byte = bytes[at++] ?? 0
    let distance = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = bytes[at++] ?? 0
      distance |= (byte & 0x7f) << shift
    }
    row += distance
    byte = bytes[at++] ?? 0
    let code = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = bytes[at++] ?? 0
      code |= (byte & 0x7f) << shift
    }
    const place = code * 3
    const score = scores[row] ?? 0
    if (score === 0) matches[count++] = row
    scores[row] =
      score +
      name * (palette[place] ?? 0) +
      labels * (palette[place + 1] ?? 0) +
      summary * (palette[place + 2] ?? 0)
  }
  return count
}

/** Sets the scores back to 0 for the next search. */
export function clearScores({ scores, matches }: ScoreScratch, count: number): void {
  // Many small writes cost more than one sweep once most rows match.
  if (count > scores.length / 4) scores.fill(0)
  else for (let at = 0; at < count; at += 1) scores[matches[at] ?? 0] = 0
}
