import { FIELD_WEIGHTS, inverseDocumentFrequency } from '../domain/search-rank.ts'
import type { ScoreScratch } from './index-part.ts'
import { findTerm } from './term-dictionary.ts'
import type { TermIndex } from './term-index.ts'

/**
 * Adds up the text score of every row that holds one of the terms: any of them is enough.
 * @param bit set in `scratch.held` of those rows
 * @param matched how many rows match already
 * @returns how many match by now; they are the first that many of `scratch.matches`
 */
export function scoreTerms(
  index: TermIndex,
  terms: Iterable<string>,
  scratch: ScoreScratch,
  bit = 0,
  matched = 0,
): number {
  let count = matched
  for (const term of terms) {
    const number = findTerm(index.dictionary, term)
    if (number >= 0) count = addTerm(index, number, scratch, bit, count)
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
  bit: number,
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
  const run = { bytes: postingBytes, at: reader.at(), rows, palette, weights, bit }
  return addRows(run, scratch, matched)
}

interface RowRun {
  bytes: Uint8Array
  at: number
  rows: number
  palette: Float32Array
  weights: { name: number; labels: number; summary: number }
  bit: number
}

/**
 * The innermost loop of the engine: for each row a distance and a palette number, mostly a byte
 * each, read in place because a call for each would cost more than the reading.
 */
function addRows(run: RowRun, scratch: ScoreScratch, matched: number): number {
  const { scores, matches, held } = scratch
  const { bytes, palette, bit } = run
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
    held[row] = (held[row] ?? 0) | bit
    scores[row] =
      score +
      name * (palette[place] ?? 0) +
      labels * (palette[place + 1] ?? 0) +
      summary * (palette[place + 2] ?? 0)
  }
  return count
}

/** Sets scores and bits back to 0 for the next search. */
export function clearScores({ scores, held, matches }: ScoreScratch, count: number): void {
  // Many small writes cost more than one sweep once most rows match.
  if (count > scores.length / 4) {
    scores.fill(0)
    held.fill(0)
    return
  }
  for (let at = 0; at < count; at += 1) {
    const row = matches[at] ?? 0
    scores[row] = 0
    held[row] = 0
  }
}
