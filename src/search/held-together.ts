import { FIELD_WEIGHTS, inverseDocumentFrequency } from '../domain/search/search-rank.ts'
import { MAX_TOGETHER } from './block-scores.ts'
import type { IndexPart } from './index-part.ts'
import { countTogether, type RowRanking } from './row-ranking.ts'

/**
 * Listings that hold several of the things asked for, anywhere, go before those that hold one of
 * them often. The formula has no such notion, so it is a matter of tokens: for every two things
 * asked for that a listing holds, be it by a related word, its name holds one more token, which
 * stands for the two. No index
 * could hold a token for any two words of a listing; what one would score is worked out here: its
 * document frequency is the number of organic rows that hold both.
 */
export interface TogetherWeights {
  /** Name weight × idf, summed over the pairs, for each combination of `held` bits. */
  ofHeld: Float64Array
}

/** In a small index every listing with a word is on the first page or two anyway. */
export const MIN_TOGETHER_ROWS = 100
const NONE: TogetherWeights = { ofHeld: new Float64Array(2) }

/**
 * @param things how many things were asked for
 * @param ranking of the organic rows, all of them offered
 */
export function weighTogether(
  part: IndexPart,
  things: number,
  ranking: RowRanking,
): TogetherWeights {
  const bits = Math.min(things, MAX_TOGETHER)
  if (part.scoredRows < MIN_TOGETHER_ROWS || bits < 2 || ranking.waiting.length === 0) return NONE
  const combinations = 1 << bits
  const ofHeld = new Float64Array(combinations)
  const rowsHolding = countTogether(ranking, combinations)
  for (let left = 1; left < combinations; left <<= 1) {
    for (let right = left << 1; right < combinations; right <<= 1) {
      addPair(part.scoredRows, rowsHolding, left | right, ofHeld)
    }
  }
  return { ofHeld }
}

function addPair(
  scoredRows: number,
  rowsHolding: Uint32Array,
  pair: number,
  ofHeld: Float64Array,
): void {
  let frequency = 0
  for (let held = pair; held < ofHeld.length; held += 1) {
    if ((held & pair) === pair) frequency += rowsHolding[held] ?? 0
  }
  if (frequency === 0) return
  const weight = FIELD_WEIGHTS.name * inverseDocumentFrequency(scoredRows, frequency)
  for (let held = pair; held < ofHeld.length; held += 1) {
    if ((held & pair) === pair) ofHeld[held] = (ofHeld[held] ?? 0) + weight
  }
}
