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

/**
 * @param things how many things are asked for
 * @param matched how many of the part's matches count: the organic rows, scored and not yet cleared
 */
export function weighTogether(part: IndexPart, things: number, matched: number): TogetherWeights {
  const ofHeld = new Float64Array(COMBINATIONS)
  if (part.rows < MIN_ROWS || things < 2) return { ofHeld }
  const rowsHolding = countHeld(part, matched)
  // Of the 256 combinations a query meets a few.
  const met = [...rowsHolding.keys()].filter((held) => (rowsHolding[held] ?? 0) > 0)
  const highest = 1 << Math.min(things, MAX_TOGETHER)
  for (let left = 1; left < highest; left <<= 1) {
    for (let right = left << 1; right < highest; right <<= 1) {
      const holding = met.filter((held) => (held & left) !== 0 && (held & right) !== 0)
      const frequency = holding.reduce((rows, held) => rows + (rowsHolding[held] ?? 0), 0)
      const weight = FIELD_WEIGHTS.name * inverseDocumentFrequency(part.scoredRows, frequency)
      for (const held of holding) ofHeld[held] = (ofHeld[held] ?? 0) + weight
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
