import * as v from 'valibot'
import { VOUCHING } from '../independence/weigh-buyer.ts'
import { toCountText, toUsd } from '../operation/price-text.ts'
import { COUNTED_SCHEMES } from '../settlement/schemes/schemes.ts'
import {
  type Measured,
  OWN_EVIDENCE,
  RawSchema,
  WashFlagSchema,
  WatchSchema,
} from '../trust/evidence.ts'
import { TRUST_METHOD, type TrustVerdict } from '../trust/trust.ts'
import { count } from '../wire/shapes.ts'

/** spec: Trust. Each evidence is a variant of its own, so that a wrong mix does not compile. */
const scored = {
  score: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
  evidence: v.literal('verified_non_wash_payments'),
  /** Present, and `low`, when the score rests on few buyers or settlements. */
  sample: v.optional(v.literal('low')),
  verified_buyers_30d: count,
  settlements_30d: count,
  /** Payers left out as no independent seller vouches for them; absent where unknown. */
  unknown_buyers_30d: v.optional(count),
  /** Dollars that inventing these buyers would have cost; absent where unknown. */
  cost_to_fake_usd: v.optional(v.pipe(v.number(), v.minValue(0))),
  wash_flags: v.array(WashFlagSchema),
  watch: v.array(WatchSchema),
}
const unsold = {
  score: v.null(),
  evidence: v.literal('no_independent_paid_usage_30d'),
  verified_buyers_30d: count,
  settlements_30d: count,
  unknown_buyers_30d: v.optional(count),
  wash_flags: v.array(WashFlagSchema),
}
const unknown = { score: v.null(), evidence: v.literal('no_payment_data') }
const measuredExtras = {
  volume_usd_30d: v.number(),
  top_buyer_share_30d: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  last_settlement_at: v.nullable(v.string()),
  shared_payout: v.boolean(),
  method: v.literal(TRUST_METHOD),
  /** End of the thirty days. */
  as_of: v.string(),
  /** Attribution text of the data's provider. */
  source: v.string(),
  /** Ways of paying of the counted payments; absent where not recorded. */
  paid_by: v.optional(v.array(v.picklist(COUNTED_SCHEMES))),
  /** Before exclusions, where transactions are known one by one. */
  raw: v.optional(RawSchema),
}

export const TrustSummarySchema = v.variant('evidence', [
  v.object(scored),
  v.object(unsold),
  v.object(unknown),
])
export const TrustSchema = v.variant('evidence', [
  v.object({ ...scored, ...measuredExtras }),
  v.object({ ...unsold, ...measuredExtras }),
  v.object({ ...unknown, method: v.literal(TRUST_METHOD) }),
])
export type TrustSummary = v.InferOutput<typeof TrustSummarySchema>
export type TrustView = v.InferOutput<typeof TrustSchema>

export function toTrustSummary(trust: TrustVerdict): TrustSummary {
  if (trust.evidence === 'no_payment_data') return { score: null, evidence: trust.evidence }
  const { unknown_buyers_30d, wash_flags, watch } = trust.measured
  const counted = {
    ...toWholeCounts(trust.measured),
    ...(unknown_buyers_30d !== undefined && { unknown_buyers_30d }),
    wash_flags,
  }
  if (trust.evidence === 'no_independent_paid_usage_30d')
    return { score: null, evidence: trust.evidence, ...counted }
  return {
    score: trust.score,
    evidence: trust.evidence,
    ...(trust.sample !== null && { sample: trust.sample }),
    ...counted,
    ...(unknown_buyers_30d !== undefined && {
      cost_to_fake_usd: toCostOfBuyers(trust.measured.verified_buyers_30d),
    }),
    watch: [...watch, ...toIndependenceWatch(trust.measured)],
  }
}

/** Buyers count fractionally; the wire has whole ones. */
function toWholeCounts({ verified_buyers_30d, settlements_30d }: Measured) {
  return {
    verified_buyers_30d: Math.round(verified_buyers_30d),
    settlements_30d: Math.round(settlements_30d),
  }
}

/** What inventing these buyers of one listing would have cost; cents. */
function toCostOfBuyers(buyers: number): number {
  return Math.round((buyers * VOUCHING.microsAListing) / 10_000) / 100
}

/** States next to a score that nobody could vouch for its buyers. */
function toIndependenceWatch({ source, unknown_buyers_30d }: Measured): Measured['watch'] {
  if (unknown_buyers_30d !== undefined) return []
  const reason =
    source === OWN_EVIDENCE
      ? 'We measure fewer than three of the sellers we know to be independent'
      : `The provider ${source} counted these buyers, and only gives sums`
  const note = `${reason}. Nobody can tell these buyers from invented ones, which cost under a cent.`
  return [{ id: 'independence_unmeasured', note }]
}

/** @param source attribution text of the provider whose evidence this is */
export function toTrustView(trust: TrustVerdict, source: string): TrustView {
  const summary = toTrustSummary(trust)
  if (trust.evidence === 'no_payment_data' || summary.evidence === 'no_payment_data')
    return { score: null, evidence: 'no_payment_data', method: TRUST_METHOD }
  // The evidence's own members: its source is the attribution here, and days are separate.
  const { days, source: _, watch, ...measured } = trust.measured
  return { ...measured, ...summary, method: TRUST_METHOD, source }
}

/**
 * The worth of a score in words, on every surface.
 *
 * @example toWorth(trust) → 'These 12 buyers also paid sellers we know to be independent. We know nothing about 3 more. Inventing the 12 would have cost $3.12.'
 */
export function toWorth(
  trust: Extract<TrustSummary, { evidence: 'verified_non_wash_payments' }>,
): string {
  const { verified_buyers_30d: buyers, unknown_buyers_30d: unknown, cost_to_fake_usd } = trust
  if (unknown === undefined || cost_to_fake_usd === undefined)
    return 'Nobody can tell these buyers from invented ones, which cost under a cent here.'
  const who = buyers === 1 ? 'This buyer' : `These ${buyers} buyers`
  const rest = unknown === 0 ? '' : ` We know nothing about ${toCountText(unknown, 'more buyer')}.`
  return `${who} also paid sellers we know to be independent.${rest} Inventing ${buyers === 1 ? 'it' : `the ${buyers}`} would have cost ${toUsd(cost_to_fake_usd)}.`
}
