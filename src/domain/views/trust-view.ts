import * as v from 'valibot'
import { type Independence, TRUST_V02 } from '../independence/independence.ts'
import { RawSchema, WashFlagSchema, WatchSchema } from '../trust/evidence.ts'
import { TRUST_METHOD, type TrustVerdict } from '../trust/trust.ts'

/**
 * spec: Trust. Which fields are present follows from `evidence`, so each evidence is a variant of
 * its own and a wrong mix does not compile.
 */
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const scored = {
  score: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
  evidence: v.literal('verified_non_wash_payments'),
  /** Present, and `low`, when the score rests on few buyers or settlements. */
  sample: v.optional(v.literal('low')),
  verified_buyers_30d: count,
  settlements_30d: count,
  wash_flags: v.array(WashFlagSchema),
  watch: v.array(WatchSchema),
}
const unsold = {
  score: v.null(),
  evidence: v.literal('no_independent_paid_usage_30d'),
  verified_buyers_30d: count,
  settlements_30d: count,
  wash_flags: v.array(WashFlagSchema),
}
const unknown = { score: v.null(), evidence: v.literal('no_payment_data') }
const measuredExtras = {
  volume_usd_30d: v.number(),
  top_buyer_share_30d: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  last_settlement_at: v.nullable(v.string()),
  shared_payout: v.boolean(),
  method: v.literal(TRUST_METHOD),
  /** Attribution text of the data's provider. */
  source: v.string(),
  /** Before exclusions, where transactions are known one by one. */
  raw: v.optional(RawSchema),
  /** Dollars that inventing these buyers would have cost at least; where payments are known one by one. */
  cost_to_fake_usd: v.optional(v.pipe(v.number(), v.minValue(0))),
  /** The method to come, beside the one that counts. */
  v02: v.optional(
    v.object({
      method: v.literal(TRUST_V02),
      score: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100))),
      /** Buyers, each weighted 0 to 1 by what it gave away elsewhere. */
      weighted_buyers_30d: v.pipe(v.number(), v.minValue(0)),
    }),
  ),
}

/** Trust in a search result. */
export const TrustSummarySchema = v.variant('evidence', [
  v.object(scored),
  v.object(unsold),
  v.object(unknown),
])
/** Trust in the full listing. */
export const TrustSchema = v.variant('evidence', [
  v.object({ ...scored, ...measuredExtras }),
  v.object({ ...unsold, ...measuredExtras }),
  v.object({ ...unknown, method: v.literal(TRUST_METHOD) }),
])
export type TrustSummary = v.InferOutput<typeof TrustSummarySchema>
export type TrustView = v.InferOutput<typeof TrustSchema>

export function toTrustSummary(trust: TrustVerdict): TrustSummary {
  if (trust.evidence === 'no_payment_data') return { score: null, evidence: trust.evidence }
  const { verified_buyers_30d, settlements_30d, wash_flags, watch } = trust.measured
  if (trust.evidence === 'no_independent_paid_usage_30d')
    return {
      score: null,
      evidence: trust.evidence,
      verified_buyers_30d,
      settlements_30d,
      wash_flags,
    }
  const sample = trust.sample === null ? {} : { sample: trust.sample }
  return {
    score: trust.score,
    evidence: trust.evidence,
    ...sample,
    verified_buyers_30d,
    settlements_30d,
    wash_flags,
    watch,
  }
}

/**
 * @param source attribution text of the provider whose evidence this is
 * @param independence what its buyers gave away elsewhere, where that can be known
 */
export function toTrustView(
  trust: TrustVerdict,
  source: string,
  independence: Independence | null = null,
): TrustView {
  const summary = toTrustSummary(trust)
  if (trust.evidence === 'no_payment_data' || summary.evidence === 'no_payment_data')
    return { score: null, evidence: 'no_payment_data', method: TRUST_METHOD }
  const { volume_usd_30d, top_buyer_share_30d, last_settlement_at, shared_payout, raw } =
    trust.measured
  const extras = {
    volume_usd_30d,
    top_buyer_share_30d,
    last_settlement_at,
    shared_payout,
    method: TRUST_METHOD,
    source,
    ...(raw !== undefined && { raw }),
    ...(independence !== null && toIndependenceView(independence)),
  } as const
  return { ...summary, ...extras }
}

function toIndependenceView({ cost_to_fake_usd, score, weighted_buyers }: Independence) {
  return {
    cost_to_fake_usd,
    v02: { method: TRUST_V02, score, weighted_buyers_30d: weighted_buyers },
  } as const
}
