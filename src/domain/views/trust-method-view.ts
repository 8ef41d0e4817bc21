import * as v from 'valibot'
import { LIVE_TESTED } from '../derived/live-tested.ts'
import type { Tables } from '../derived/tables.ts'
import {
  type CostOfCheating,
  CostOfCheatingSchema,
  cheapestOf,
  TARGETS,
} from '../independence/cost-of-cheating.ts'
import { COST_TO_FAKE, NEXT_FORMULA } from '../independence/cost-texts.ts'
import { GIVEN_AWAY } from '../independence/given-away.ts'
import { TRUST_V02 } from '../independence/independence.ts'
import { TRUST, TRUST_METHOD } from '../trust/trust.ts'
import { WASH_FLAGS, type WashFlagId } from '../wash/wash.ts'
import { WASH } from '../wash/wash-rules.ts'
import { EVIDENCE } from '../wire/vocabulary.ts'

const MINUTE_MS = 60_000

const { roundTripShare, hopDays, burst } = WASH

/** Null: nothing was found within the adversary's means. */
const cheapest = v.nullable(v.object({ id: v.string(), name: v.string(), cost_usd: v.number() }))

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
    wash: v.object({
      round_trip_share: v.number(),
      hop_days: v.number(),
      burst: v.object({
        payers: v.number(),
        share: v.number(),
        minutes: v.number(),
        funder_share: v.number(),
      }),
    }),
  }),
  evidence: v.array(v.object({ id: v.picklist(EVIDENCE), meaning: v.string() })),
  sources: v.array(v.string()),
  never: v.array(v.string()),
  excluded: v.array(v.object({ flag: v.picklist(WASH_FLAGS), rule: v.string() })),
  /** What gets past the exclusions: whoever reads a score should know. */
  not_caught: v.array(v.string()),
  cost_to_fake: v.object({
    meaning: v.string(),
    rules: v.array(v.string()),
    cap_usd_a_buyer: v.number(),
    fee_usd_a_settlement: v.number(),
    independent_operators: v.array(
      v.object({ domain: v.string(), name: v.string(), why: v.string() }),
    ),
    not_caught: v.array(v.string()),
  }),
  next: v.object({
    method: v.literal(TRUST_V02),
    status: v.string(),
    formula: v.record(v.string(), v.string()),
  }),
  /** What `npm run simulate:trust` found: the cheapest attack on each target, and all that were tried. */
  cost_of_cheating: v.object({
    ...CostOfCheatingSchema.entries,
    cheapest: v.array(v.object({ method: v.string(), target: v.number(), attack: cheapest })),
  }),
  page: v.string(),
})
export type TrustMethodView = v.InferOutput<typeof TrustMethodSchema>

export function toTrustMethodView({
  independentOperators,
  costOfCheating,
}: Pick<Tables, 'independentOperators' | 'costOfCheating'>): TrustMethodView {
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
    constants: toConstants(),
    evidence: EVIDENCE.map((id) => ({ id, meaning: EVIDENCE_MEANINGS[id] })),
    sources: [
      'settlements measured on-chain by an external data provider',
      "settlements this service verified on-chain itself, to the seller's published payout address",
      'every payment by EIP-3009 authorisation (on Solana: by a transfer that another wallet paid the fee of) to a payout its holder proved, read from the chain by this service; for such a payout these figures alone count',
    ],
    never: ['calls a seller reports', 'clicks', 'ratings', 'payments to Waypost'],
    excluded: WASH_FLAGS.map((flag) => ({ flag, rule: EXCLUSION_RULES[flag] })),
    not_caught: NOT_CAUGHT,
    cost_to_fake: toCostView(independentOperators),
    next: toNextMethod(),
    cost_of_cheating: { ...costOfCheating, cheapest: toCheapest(costOfCheating) },
    page: '/trust',
  }
}

function toCostView(
  independentOperators: Tables['independentOperators'],
): TrustMethodView['cost_to_fake'] {
  return {
    meaning: COST_TO_FAKE.meaning,
    rules: [...COST_TO_FAKE.rules],
    cap_usd_a_buyer: GIVEN_AWAY.capUsd,
    fee_usd_a_settlement: GIVEN_AWAY.feeUsd,
    independent_operators: independentOperators.map((row) => ({ ...row })),
    not_caught: [...COST_TO_FAKE.notCaught],
  }
}

function toCheapest(table: CostOfCheating): TrustMethodView['cost_of_cheating']['cheapest'] {
  const methods = [
    ['v01', TRUST_METHOD],
    ['v02', TRUST_V02],
  ] as const
  return methods.flatMap(([key, method]) =>
    TARGETS.map((target) => {
      const best = cheapestOf(table, key, target)
      const attack =
        best === null ? null : { id: best.id, name: best.name, cost_usd: best.cost_usd }
      return { method, target: Number(target), attack }
    }),
  )
}

function toNextMethod(): TrustMethodView['next'] {
  return {
    method: TRUST_V02,
    status: `Computed beside ${TRUST_METHOD} where payments are known one by one. The order of results stays with ${TRUST_METHOD}.`,
    formula: { ...NEXT_FORMULA },
  }
}

function toConstants(): TrustMethodView['constants'] {
  const { weights, saturation, recency } = TRUST
  return {
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
    wash: {
      round_trip_share: roundTripShare,
      hop_days: hopDays,
      burst: {
        payers: burst.cohort,
        share: burst.share,
        minutes: burst.windowMs / MINUTE_MS,
        funder_share: burst.funderShare,
      },
    },
  }
}

const EVIDENCE_MEANINGS: Record<(typeof EVIDENCE)[number], string> = {
  verified_non_wash_payments: 'Independent buyers paid this seller in the window.',
  no_payment_data: 'Nobody has measured payments to this seller. Not a bad sign.',
  no_independent_paid_usage_30d:
    'Payments were measured, but none in the window came from an independent buyer.',
}

/** What is left out before anything is counted, where transactions are known. */
const EXCLUSION_RULES: Record<WashFlagId, string> = {
  self_payment: 'the payer is the payout address or a wallet of the claiming seller',
  funded_by_payout: `the payer had money of the payout address before it first paid: straight from it, or, in the ${hopDays} days before, through one other wallet that gave it at least the price of its first payment`,
  round_trip: `at least ${toPercent(roundTripShare)} of what was paid went back to the payer`,
  burst_cohort: `${burst.cohort} or more first-time payers of one same amount, at least ${toPercent(burst.share)} of them inside ${burst.windowMs / MINUTE_MS} minutes, and a second sign of one hand: one wallet had funded at least ${toPercent(burst.funderShare)} of them, or none of them ever paid anyone else. Left out are the wallets of those minutes and the ones that wallet had funded, not who paid the same on another day`,
}

const NOT_CAUGHT = [
  'wallets that somebody fills from elsewhere and pays himself with: no chain says whose money it was',
  'many wallets within minutes that pay different amounts, or one of which has paid somebody else before, or whose common source lies behind five later senders: a burst takes one same amount and a second sign',
  `money of the seller's that reached a payer through two wallets or more, through a contract (an exchange, a pool, a bridge), in another token, more than ${hopDays} days before, or in pieces smaller than the first payment`,
  'money that went back to a payer by another wallet, in another token or off the chain',
  'on Solana, money that reached a payer through any other wallet',
  'real buyers who are rewarded, outside the chain, for buying',
  'a rival who pays a seller much from one wallet, which lowers the score by the share of the largest buyer: the money is the seller’s to keep',
  'payments that a chain node leaves out: we ask one node a chain and do not prove its answers, so one that omits logs looks like a quiet chain',
  'what is paid by card, on chains we do not read, or to a payout that nobody published, named or proved',
]

function toPercent(share: number): string {
  return `${Math.round(share * 100)} %`
}
