import { FIELD_WEIGHTS, inverseDocumentFrequency, RELEVANCE_STEPS } from '../domain/search-rank.ts'
import { passes } from './filter-rows.ts'
import { findId } from './find-id.ts'
import { MAX_TOGETHER, type TogetherWeights, weighTogether } from './held-together.ts'
import type { IndexPart } from './index-part.ts'
import type { PartName, SearchIndex } from './loaded-index.ts'
import type { QueryPlan } from './plan-query.ts'
import type { RankedPage } from './ranked-page.ts'
import { clearScores, scoreTerms } from './score-terms.ts'
import { createTopKeys, type TopKeys } from './top-keys.ts'

export interface RankRequest {
  plan: QueryPlan
  /** Rows that pass the filters; null for all. */
  bits: Uint32Array | null
  offset: number
  limit: number
  /** The organic rows' weights, for our own rows; the organic ones make theirs. */
  together?: TogetherWeights
}

/** Scores a part's rows for a plan and takes the page asked for. */
export function rankRows(
  index: SearchIndex,
  name: PartName,
  { plan, bits, offset, limit, together }: RankRequest,
): { page: RankedPage; together: TogetherWeights } {
  const part = index[name]
  const matched = scoreIds(index, name, plan.ids, scorePlan(part, plan))
  const weights = together ?? weighTogether(part, plan.things.length, matched)
  const best = createTopKeys(Math.min(offset + limit, matched))
  const total = offerMatches(part, matched, bits, weights, best)
  clearScores(part.scratch, matched)
  const span = rowSpan(part)
  const rows = Array.from(best.take(offset), (key) => ({
    row: span - 1 - (key % span),
    relevance: Math.floor(key / span) / RELEVANCE_STEPS,
  }))
  return { page: { total, rows }, together: weights }
}

function scorePlan(part: IndexPart, { things, others }: QueryPlan): number {
  let matched = 0
  things.forEach((terms, at) => {
    const bit = at < MAX_TOGETHER ? 1 << at : 0
    matched = scoreTerms(part, terms, part.scratch, bit, matched)
  })
  return scoreTerms(part, others, part.scratch, 0, matched)
}

/** A listing's id is a term in its name that it alone holds. @returns how many rows match by now */
function scoreIds(
  index: SearchIndex,
  name: PartName,
  ids: readonly string[],
  matched: number,
): number {
  const { scratch, nameSaturations, scoredRows } = index[name]
  const weight = FIELD_WEIGHTS.name * inverseDocumentFrequency(scoredRows, 1)
  let count = matched
  for (const id of new Set(ids)) {
    const row = findId(index, name, id)
    if (row < 0) continue
    if (scratch.scores[row] === 0) scratch.matches[count++] = row
    scratch.scores[row] = (scratch.scores[row] ?? 0) + weight * (nameSaturations[row] ?? 0)
  }
  return count
}

/**
 * A row's rank as one number, so that a typed array can hold and sort it: the score in steps, then
 * the row number backwards, since a lower row wins a tie. Exact below 2^53, that is for scores to
 * 8,000 with a million rows; the best match of 32 words scores some hundreds.
 */
function rowSpan({ rows }: IndexPart): number {
  return 2 ** Math.ceil(Math.log2(Math.max(rows, 2)))
}

/** @returns how many matches pass the filter */
function offerMatches(
  part: IndexPart,
  matched: number,
  bits: Uint32Array | null,
  { ofHeld }: TogetherWeights,
  best: TopKeys,
): number {
  const { multipliers, nameSaturations } = part
  const { scores, held, matches } = part.scratch
  const span = rowSpan(part)
  let total = 0
  // Most matches of a broad query are far from the page: one comparison settles them, well before
  // the rounding (a step of slack) and the key.
  let hopeless = Number.NEGATIVE_INFINITY
  for (let at = 0; at < matched; at += 1) {
    const row = matches[at] ?? 0
    if (bits !== null && !passes(bits, row)) continue
    total += 1
    const together = (ofHeld[held[row] ?? 0] ?? 0) * (nameSaturations[row] ?? 0)
    const score = ((scores[row] ?? 0) + together) * (multipliers[row] ?? 1)
    if (score < hopeless) continue
    const threshold = best.offer(Math.round(score * RELEVANCE_STEPS) * span + (span - 1 - row))
    hopeless = (threshold / span - 2) / RELEVANCE_STEPS
  }
  return total
}
