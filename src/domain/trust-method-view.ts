import * as v from 'valibot'
import { LIVE_TESTED } from './live-tested.ts'
import { TRUST, TRUST_METHOD } from './trust.ts'
import { EVIDENCE } from './vocabulary.ts'

/** `GET /api/v1/trust/method`: the constants that compute the score, and what they mean. */
export const TrustMethodSchema = v.object({
  method: v.literal(TRUST_METHOD),
  summary: v.string(),
  formula: v.record(v.string(), v.string()),
  constants: v.object({
    window_days: v.number(),
    weights: v.object({ buyers: v.number(), settlements: v.number(), volume: v.number() }),
    saturation: v.object({ buyers: v.number(), settlements: v.number(), volume_usd: v.number() }),
    concentration_penalty: v.number(),
    recency: v.object({ fresh_days: v.number(), floor: v.number() }),
    shrink_buyers: v.number(),
    sample_gate: v.object({ buyers: v.number(), settlements: v.number() }),
    live_tested: v.object({ probes: v.number(), span_hours: v.number() }),
  }),
  evidence: v.array(v.object({ id: v.picklist(EVIDENCE), meaning: v.string() })),
  sources: v.array(v.string()),
  never: v.array(v.string()),
  excluded: v.array(v.object({ flag: v.string(), rule: v.string() })),
  page: v.string(),
})
export type TrustMethodView = v.InferOutput<typeof TrustMethodSchema>

export function toTrustMethodView(): TrustMethodView {
  const { weights, saturation, recency } = TRUST
  return {
    method: TRUST_METHOD,
    summary:
      'A score from 0 to 100, computed only from payments verified on-chain that are not wash trades. No evidence gives no score, and that is not a bad sign.',
    formula: {
      score: 'round(100 * base * (1 - concentration_penalty * c) * recency * shrink)',
      base: `${weights.buyers}*sat(B,${saturation.buyers}) + ${weights.settlements}*sat(N,${saturation.settlements}) + ${weights.volume}*sat(V,${saturation.volumeUsd})`,
      sat: 'sat(x,k) = min(1, ln(1+x) / ln(1+k))',
      recency: `1 up to ${recency.freshDays} days since the last settlement, then linear to ${recency.floor} at ${TRUST.windowDays} days`,
      shrink: `B / (B + ${TRUST.shrinkBuyers})`,
      shared_payout: 'N and V are divided by the number of listings that share the payout address',
      symbols:
        'B verified buyers, N settlements, V volume in US dollars, c share of the largest buyer; all over the window',
    },
    constants: {
      window_days: TRUST.windowDays,
      weights: { ...weights },
      saturation: {
        buyers: saturation.buyers,
        settlements: saturation.settlements,
        volume_usd: saturation.volumeUsd,
      },
      concentration_penalty: TRUST.concentrationPenalty,
      recency: { fresh_days: recency.freshDays, floor: recency.floor },
      shrink_buyers: TRUST.shrinkBuyers,
      sample_gate: { ...TRUST.sampleGate },
      live_tested: { probes: LIVE_TESTED.probes, span_hours: LIVE_TESTED.spanHours },
    },
    evidence: EVIDENCE.map((id) => ({ id, meaning: EVIDENCE_MEANINGS[id] })),
    sources: [
      'settlements measured on-chain by an external data provider',
      "settlements this service verified on-chain itself, to the seller's published payout address",
    ],
    never: ['calls a seller reports', 'clicks', 'ratings', 'payments to Waypost'],
    excluded: EXCLUSIONS.map((row) => ({ ...row })),
    page: '/trust',
  }
}

const EVIDENCE_MEANINGS: Record<(typeof EVIDENCE)[number], string> = {
  verified_non_wash_payments: 'Independent buyers paid this seller in the window.',
  no_payment_data: 'Nobody has measured payments to this seller. Not a bad sign.',
  no_independent_paid_usage_30d:
    'Payments were measured, but none in the window came from an independent buyer.',
}

/** contract §5: what is left out before anything is counted, where transactions are known. */
export const EXCLUSIONS = [
  {
    flag: 'self_payment',
    rule: 'the payer is the payout address or a wallet of the claiming seller',
  },
  { flag: 'payout_funded_payer', rule: 'the payer was funded by the payout address' },
  { flag: 'round_trip', rule: 'at least 85 % of what was paid went back to the payer' },
  {
    flag: 'burst',
    rule: 'ten or more first-time payers of one same amount, at least 70 % of them inside 30 minutes, and a second sign of a farm',
  },
] as const
