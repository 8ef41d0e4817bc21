import * as v from 'valibot'
import type { Tables } from '../derived/tables.ts'
import { LIVE_TESTED } from '../derived/tiers.ts'
import { CHEATING, VOUCHING } from '../independence/weigh-buyer.ts'
import { toUsd } from '../operation/price-text.ts'
import { SCHEMES } from '../settlement/schemes/schemes.ts'
import { BRIDGED_COINS } from '../settlement/usd-assets.ts'
import { TRUST, TRUST_METHOD } from '../trust/trust.ts'
import { WASH_FLAGS } from '../wash/wash.ts'
import { WASH } from '../wash/wash-rules.ts'
import { EVIDENCE } from '../wire/vocabulary.ts'
import { toWireNames } from '../wire/wire-names.ts'
import {
  CHEATING_COSTS,
  EVIDENCE_MEANINGS,
  EXCLUSION_RULES,
  GETS_PAST,
  IN_SHORT,
  RECOMPUTE,
  RULE,
  RULE_REASONS,
  toToday,
} from './trust-texts.ts'

const MINUTE_MS = 60_000
const MICRO = 1_000_000

const { roundTripShare, hopDays, burst } = WASH

/** `GET /api/v1/trust/method`: the constants that compute the score, and what they mean. */
export const TrustMethodSchema = v.object({
  method: v.literal(TRUST_METHOD),
  summary: v.string(),
  /** The current state, what is counted, what a score is worth. */
  in_short: v.array(v.string()),
  formula: v.record(v.string(), v.string()),
  constants: v.object({
    window_days: v.number(),
    weights: v.object({ buyers: v.number(), settlements: v.number(), volume: v.number() }),
    saturation: v.object({ buyers: v.number(), settlements: v.number(), volume_usd: v.number() }),
    concentration_penalty: v.number(),
    recency: v.object({ fresh_days: v.number(), floor: v.number() }),
    shrink_buyers: v.number(),
    a_payer: v.object({ settlements: v.number(), volume_usd: v.number() }),
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
  /** Everything known to get past the rules. */
  gets_past: v.array(v.string()),
  /** How anybody computes the scores from the published rows, step by step. */
  recompute: v.array(v.string()),
  /** Coins redeemed by a bridge, not their issuer, and whether payments in them count. */
  bridged: v.array(
    v.object({
      network: v.string(),
      name: v.string(),
      address: v.string(),
      counts: v.boolean(),
      reason: v.string(),
    }),
  ),
  /** Ways of paying whose payments are counted, as `paid_by` of a listing names them, and why that is safe. */
  seen: v.array(v.object({ id: v.string(), name: v.string(), reason: v.string() })),
  /** Those whose payments are not counted, and why. */
  not_seen: v.array(v.object({ id: v.string(), name: v.string(), reason: v.string() })),
  vouching: v.object({
    /** Dollars to known sellers for each listing where a buyer counts in full. */
    usd_a_listing: v.number(),
    custom_a_day_usd: v.number(),
    most_custom_usd: v.number(),
    /** Dollars that buyers must have paid a known operator for it to be measured. */
    usd_a_measured: v.number(),
    /** Known operators that must be measured for the rule to apply, and those that are. */
    needed: v.number(),
    measured: v.number(),
    rules: v.array(v.string()),
    reasons: v.array(v.string()),
    independent_operators: v.array(
      v.object({ domain: v.string(), name: v.string(), why: v.string() }),
    ),
  }),
  /** No way found to invent buyers for this score costs less, in dollars a listing. */
  cost_of_cheating: v.object({
    score: v.number(),
    usd: v.number(),
    sentences: v.array(v.string()),
  }),
  page: v.string(),
})
export type TrustMethodView = v.InferOutput<typeof TrustMethodSchema>

function listSchemes(isCounted: boolean): TrustMethodView['seen'] {
  return SCHEMES.filter(({ counted }) => counted === isCounted).map(
    ({ counted: _, ...scheme }) => scheme,
  )
}

/** @param measuredOperators how many operators of the list are measured */
export function toTrustMethodView(
  { independentOperators }: Pick<Tables, 'independentOperators'>,
  measuredOperators: number,
): TrustMethodView {
  return {
    method: TRUST_METHOD,
    summary:
      'A score from 0 to 100, computed only from payments that a chain shows. No evidence gives no score.',
    in_short: [toToday(measuredOperators), ...IN_SHORT],
    formula: toFormula(),
    constants: toConstants(),
    evidence: EVIDENCE.map((id) => ({ id, meaning: EVIDENCE_MEANINGS[id] })),
    sources: [
      'every payment to a payee that the seller proved by a signature, or published on its own site, by each way of paying where the chain proves who paid whom; we read the chains ourselves, and publish every payment we looked at with what became of it',
      'else, what an external data provider measured on-chain: the score names the provider and earns no tier or badge',
    ],
    never: ['calls a seller reports', 'clicks', 'ratings', 'payments to this directory'],
    excluded: WASH_FLAGS.map((flag) => ({ flag, rule: EXCLUSION_RULES[flag] })),
    gets_past: GETS_PAST,
    recompute: RECOMPUTE,
    bridged: [...BRIDGED_COINS],
    seen: listSchemes(true),
    not_seen: listSchemes(false),
    vouching: {
      usd_a_listing: VOUCHING.microsAListing / MICRO,
      custom_a_day_usd: VOUCHING.customADay / MICRO,
      most_custom_usd: VOUCHING.mostCustom / MICRO,
      usd_a_measured: VOUCHING.microsAMeasuredSeed / MICRO,
      needed: VOUCHING.measuredSeeds,
      measured: measuredOperators,
      rules: RULE,
      reasons: RULE_REASONS,
      independent_operators: independentOperators.map((row) => ({ ...row })),
    },
    cost_of_cheating: { ...CHEATING, sentences: CHEATING_COSTS },
    page: '/trust',
  }
}

function toFormula(): Record<string, string> {
  const { weights, saturation, recency } = TRUST
  return {
    score: `round(100 * base * (1 - ${TRUST.concentrationPenalty}*c) * recency * shrink)`,
    base: `${weights.buyers}*sat(B,${saturation.buyers}) + ${weights.settlements}*sat(N,${saturation.settlements}) + ${weights.volume}*sat(V,${saturation.volumeUsd})`,
    sat: 'sat(x,k) = min(1, ln(1+x) / ln(1+k))',
    recency: `1 up to ${recency.freshDays} days since the last settlement, then linear to ${recency.floor} at ${TRUST.windowDays} days`,
    shrink: `B / (B + ${TRUST.shrinkBuyers})`,
    shared_payout: 'N and V are divided by the number of listings that share the payout address',
    symbols: `B buyers, N settlements, V volume in US dollars, c share of the largest buyer, at least 1/B; all over the window. Of one buyer count at most ${TRUST.perPayer.settlements} settlements and ${toUsd(TRUST.perPayer.volumeUsd)}, and of three buyers or more no more dollars than of all others together`,
  }
}

function toConstants(): TrustMethodView['constants'] {
  const { perPayer, ...constants } = TRUST
  const { cohort: payers, windowMs, ...shares } = burst
  const wash = {
    roundTripShare,
    hopDays,
    burst: { payers, minutes: windowMs / MINUTE_MS, ...shares },
  }
  const named = toWireNames({ ...constants, aPayer: perPayer, liveTested: LIVE_TESTED, wash })
  return v.parse(TrustMethodSchema.entries.constants, named)
}
