import { FIELD_WEIGHTS, inverseDocumentFrequency } from '../domain/search-rank.ts'
import type { IndexPart } from './index-part.ts'

/**
 * Listings that hold several of the things asked for, anywhere, go before those that hold one of
 * them often. The formula has no such notion, so it is a matter of tokens: for every two things
 * asked for that a listing holds, its name holds one more token, which stands for the two. No index
 * could hold a token for any two words of a listing; what one would score is worked out here: its
 * document frequency is the number of organic rows that hold both.
 */
export interface TogetherWeights {
  /** Name weight × idf, summed over the pairs, for each combination of `held` bits. */
  ofHeld: Float64Array
}

/** Things asked for that take part, a bit of a byte each. */
export const MAX_TOGETHER = 8
const COMBINATIONS = 2 ** MAX_TOGETHER
/** In a small index every listing with a word is on the first page or two anyway. */
const MIN_ROWS = 100

/** @param matched how many of the part's matches count: the organic rows, scored and not yet cleared */
export function weighTogether(part: IndexPart, matched: number): TogetherWeights {
  const ofHeld = new Float64Array(COMBINATIONS)
  if (part.rows < MIN_ROWS) return { ofHeld }
  const rowsHolding = countHeld(part, matched)
  for (let left = 1; left < COMBINATIONS; left <<= 1) {
    for (let right = left << 1; right < COMBINATIONS; right <<= 1) {
      addPair(ofHeld, rowsHolding, left | right, part.scoredRows)
    }
  }
  return { ofHeld }
}

/** How many rows hold exactly each combination. */
function countHeld({ scratch: { held, matches } }: IndexPart, matched: number): Uint32Array {
  const rows = new Uint32Array(COMBINATIONS)
  for (let at = 0; at < matched; at += 1) {
    const combination = held[matches[at] ?? 0] ?? 0
    rows[combination] = (rows[combination] ?? 0) + 1
  }
  return rows
}

function addPair(
  ofHeld: Float64Array,
  rowsHolding: Uint32Array,
  pair: number,
  scoredRows: number,
): void {
  let frequency = 0
  rowsHolding.forEach((rows, combination) => {
    if ((combination & pair) === pair) frequency += rows
  })
  if (frequency === 0) return
  const weight = FIELD_WEIGHTS.name * inverseDocumentFrequency(scoredRows, frequency)
  ofHeld.forEach((sum, combination) => {
    if ((combination & pair) === pair) ofHeld[combination] = sum + weight
  })
}
