/**
 * The specified ranking, as numbers (spec: GET /api/v1/search). The text score is BM25F (Robertson,
 * Zaragoza and Taylor 2004): BM25 over weighted fields, by the same rules for an index of any size.
 * Nothing in this file reads paid or first-party tiers.
 */
export const BM25_K1 = 1.2
const BM25_B = 0.75

/** The text score's fields with their weights; tags and categories are one field. */
export const FIELD_WEIGHTS = { name: 3, labels: 2, summary: 1 } as const
export type SearchField = keyof typeof FIELD_WEIGHTS
export const SEARCH_FIELDS = ['name', 'labels', 'summary'] as const satisfies readonly SearchField[]

/** A term's weight in a query: 1 for the query's own terms, less for terms added by analysis. */
export const TERM_WEIGHTS = {
  requested: 1,
  detail: 0.65,
  pair: 0.5,
  named: 0.5,
  part: 0.3,
  related: 0.3,
  story: 0.2,
} as const

export const LIVE_TESTED_FACTOR = 1.1

/** Scores are compared and printed in this many steps per unit, so that readers see ties. */
export const RELEVANCE_STEPS = 1e6

/** `idf = ln(1 + (n − df + 0.5)/(df + 0.5))`: of n rows, df have the term in any field. */
export function inverseDocumentFrequency(rows: number, documentFrequency: number): number {
  return Math.log(1 + (rows - documentFrequency + 0.5) / (documentFrequency + 0.5))
}

/** A field's share of a term's frequency: `w · tf / (1 − b + b · len/avglen)`. Lengths count tokens. */
export function fieldShare(
  field: SearchField,
  { frequency, length, averageLength }: Record<'frequency' | 'length' | 'averageLength', number>,
): number {
  const norm = averageLength > 0 ? 1 - BM25_B + (BM25_B * length) / averageLength : 1
  return (FIELD_WEIGHTS[field] * frequency) / norm
}

/** `tf' · (k1 + 1)/(k1 + tf')`, where tf' is the sum of the shares of all fields. */
export function saturate(weightedFrequency: number): number {
  return (weightedFrequency * (BM25_K1 + 1)) / (BM25_K1 + weightedFrequency)
}

/** `1 + 0.5 × trust/100` if a payment-based score exists, × 1.1 for Live-Tested. */
export function rankMultiplier(trustScore: number | null, liveTested: boolean): number {
  return trustFactor(trustScore) * (liveTested ? LIVE_TESTED_FACTOR : 1)
}

export function trustFactor(trustScore: number | null): number {
  return trustScore === null ? 1 : 1 + (0.5 * trustScore) / 100
}

export interface RankFacts {
  id: string
  trustScore: number | null
  verifiedBuyers: number
  remote: boolean
  minUsd: number | null
  tasks?: readonly string[] | undefined
}

/** Order of equal text scores: payment-verified trust desc (null last), verified buyers desc, id. */
export function compareTies(a: RankFacts, b: RankFacts): number {
  return compareEvidence(a, b) || compareIds(a, b)
}

/**
 * Order of a search without `q`: evidence, then remote endpoint, listed price, lowest price; then what does a known
 * task, because a demonstration does none; then id.
 */
export function compareBrowsing(a: RankFacts, b: RankFacts): number {
  return (
    compareEvidence(a, b) ||
    Number(b.remote) - Number(a.remote) ||
    comparePrices(a.minUsd, b.minUsd) ||
    Number(doesTask(b)) - Number(doesTask(a)) ||
    compareIds(a, b)
  )
}

function doesTask({ tasks = [] }: RankFacts): boolean {
  return tasks.length > 0
}

function compareEvidence(a: RankFacts, b: RankFacts): number {
  return (b.trustScore ?? -1) - (a.trustScore ?? -1) || b.verifiedBuyers - a.verifiedBuyers
}

/** A row with a listed price comes before one without; then the lower price comes first. */
function comparePrices(a: number | null, b: number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return a - b
}

function compareIds(a: RankFacts, b: RankFacts): number {
  if (a.id === b.id) return 0
  return a.id < b.id ? -1 : 1
}
