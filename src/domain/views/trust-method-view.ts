import * as v from 'valibot'
import type { Tables } from '../derived/tables.ts'
import { LIVE_TESTED } from '../derived/tiers.ts'
import {
  type CostOfCheating,
  CostOfCheatingSchema,
  cheapestOf,
  TARGETS,
} from '../independence/cost-of-cheating.ts'
import { VOUCHING } from '../independence/vouching.ts'
import { toUsd } from '../operation/price-text.ts'
import { SCHEMES } from '../settlement/schemes/schemes.ts'
import { BRIDGED_COINS } from '../settlement/usd-assets.ts'
import { TRUST, TRUST_METHOD } from '../trust/trust.ts'
import { WASH_FLAGS, type WashFlagId } from '../wash/wash.ts'
import { WASH } from '../wash/wash-rules.ts'
import { EVIDENCE } from '../wire/vocabulary.ts'
import { toWireNames } from '../wire/wire-names.ts'

const MINUTE_MS = 60_000

const { roundTripShare, hopDays, burst } = WASH

/** Null: nothing was found within the adversary's means. */
const cheapest = v.nullable(v.object({ id: v.string(), name: v.string(), cost_usd: v.number() }))

/** `GET /api/v1/trust/method`: the constants that compute the score, and what they mean. */
export const TrustMethodSchema = v.object({
  method: v.literal(TRUST_METHOD),
  summary: v.string(),
  /** What is counted, what is not, what a score is worth, what it costs to invent. */
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
  /** What gets past the exclusions: readers of a score should know. */
  not_caught: v.array(v.string()),
  /** Coins that a bridge redeems and not their issuer, and whether payments in them count. */
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
    usd_a_listing: v.number(),
    /** Known operators that must be measured for the rule to hold, and those that are. */
    needed: v.number(),
    measured: v.number(),
    rules: v.array(v.string()),
    not_caught: v.array(v.string()),
    independent_operators: v.array(
      v.object({ domain: v.string(), name: v.string(), why: v.string() }),
    ),
  }),
  /** What `npm run simulate:trust` found: the cheapest attack on each target, and all that were tried. */
  cost_of_cheating: v.object({
    ...CostOfCheatingSchema.entries,
    cheapest: v.array(v.object({ target: v.number(), attack: cheapest })),
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
  { independentOperators, costOfCheating }: Pick<Tables, 'independentOperators' | 'costOfCheating'>,
  measuredOperators: number,
): TrustMethodView {
  return {
    method: TRUST_METHOD,
    summary:
      'A score from 0 to 100, computed only from payments that a chain shows. No evidence gives no score, and that is not a bad sign.',
    in_short: toInShort(measuredOperators, costOfCheating),
    formula: toFormula(),
    constants: toConstants(),
    evidence: EVIDENCE.map((id) => ({ id, meaning: EVIDENCE_MEANINGS[id] })),
    sources: [
      'settlements measured on-chain by an external data provider',
      "settlements this service verified on-chain itself, to the seller's published payout address",
      'every payment to a payout its holder proved, by each way of paying where the chain proves who paid whom, read by this service; for such a payout these figures alone count',
    ],
    never: ['calls a seller reports', 'clicks', 'ratings', 'payments to this directory'],
    excluded: WASH_FLAGS.map((flag) => ({ flag, rule: EXCLUSION_RULES[flag] })),
    not_caught: NOT_CAUGHT,
    bridged: [...BRIDGED_COINS],
    seen: listSchemes(true),
    not_seen: listSchemes(false),
    vouching: {
      usd_a_listing: VOUCHING.usdAListing,
      needed: VOUCHING.measuredSeeds,
      measured: measuredOperators,
      rules: VOUCHING_RULES,
      not_caught: VOUCHING_NOT_CAUGHT,
      independent_operators: independentOperators.map((row) => ({ ...row })),
    },
    cost_of_cheating: { ...costOfCheating, cheapest: toCheapest(costOfCheating) },
    page: '/trust',
  }
}

function toInShort(measured: number, table: CostOfCheating): string[] {
  const { usdAListing, measuredSeeds } = VOUCHING
  const share = toUsd(usdAListing)
  const [low, middle, high] = TARGETS.map((target) => {
    const best = cheapestOf(table, target)
    return best === null ? 'more than we tried' : toUsd(Math.floor(best.cost_usd * 100) / 100)
  })
  const holds = measured >= measuredSeeds
  return [
    `A payment counts when a blockchain shows it and its buyer gave at least ${share} of other money to sellers who have nothing to do with this one.`,
    'Calls, clicks, ratings and card payments never count. We leave out payments a seller seems to have made to itself, and buyers nobody vouches for.',
    'A score says that people paid this seller lately, not that the service is good. Having no score says nothing against a seller.',
    holds
      ? `Inventing the buyers for a score of 30, 60 or 90 costs ${low}, ${middle} or ${high} a listing, as far as we could find out.`
      : `To tell which buyers these are, we must measure ${measuredSeeds} sellers we know to be independent. We measure ${measured} today. Until then every buyer counts, and invented buyers cost under a cent.`,
  ]
}

function toFormula(): Record<string, string> {
  const { weights, saturation, recency } = TRUST
  return {
    score: 'round(100 * base * (1 - concentration_penalty * c) * recency * shrink)',
    base: `${weights.buyers}*sat(B,${saturation.buyers}) + ${weights.settlements}*sat(N,${saturation.settlements}) + ${weights.volume}*sat(V,${saturation.volumeUsd})`,
    sat: 'sat(x,k) = min(1, ln(1+x) / ln(1+k))',
    recency: `1 up to ${recency.freshDays} days since the last settlement, then linear to ${recency.floor} at ${TRUST.windowDays} days`,
    shrink: `B / (B + ${TRUST.shrinkBuyers})`,
    shared_payout: 'N and V are divided by the number of listings that share the payout address',
    symbols: `B buyers, N settlements, V volume in US dollars, c share of the largest buyer; all over the window. Of one buyer count at most ${TRUST.perPayer.settlements} settlements and ${toUsd(TRUST.perPayer.volumeUsd)}, and of three buyers or more no more dollars than of all others together`,
  }
}

function toCheapest(table: CostOfCheating): TrustMethodView['cost_of_cheating']['cheapest'] {
  return TARGETS.map((target) => {
    const best = cheapestOf(table, target)
    const attack = best === null ? null : { id: best.id, name: best.name, cost_usd: best.cost_usd }
    return { target: Number(target), attack }
  })
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

const EVIDENCE_MEANINGS: Record<(typeof EVIDENCE)[number], string> = {
  verified_non_wash_payments: 'Independent buyers paid this seller in the window.',
  no_payment_data: 'Nobody has measured payments to this seller. Not a bad sign.',
  no_independent_paid_usage_30d:
    'Payments were measured, but none in the window came from an independent buyer.',
}

/** What is left out before anything is counted, where transactions are known. */
const EXCLUSION_RULES: Record<WashFlagId, string> = {
  self_payment: 'the payer is the payout address or a wallet of the claiming seller',
  funded_by_payout: `the payer had money of the payout address before it first paid: straight from it, or, in the ${hopDays} days before, through one other wallet that gave it most of what it had`,
  round_trip: `at least ${toPercent(roundTripShare)} of what was paid went back to the payer`,
  burst_cohort: `${burst.cohort} or more first-time payers of one same amount, at least ${toPercent(burst.share)} of them inside ${burst.windowMs / MINUTE_MS} minutes, and a second sign of one hand: one wallet, not an exchange’s, had funded at least ${toPercent(burst.funderShare)} of them, or none of them ever paid anyone else. Left out are the wallets of those minutes`,
}

const VOUCHING_RULES = [
  `Buyers count who gave at least ${toUsd(VOUCHING.usdAListing)} of their own money to independent sellers in the same 30 days, for each listing they bought from.`,
  'Independent sellers are those on the list below, and sellers whom buyers that are vouched for pay, as far as those gave.',
  'No dollar vouches twice: it is one maximum flow over the whole market, from buyers through what they paid to the list.',
  'Listings on one domain or with one payout are one seller. A payout that only a 402 names ties nobody together.',
  'Money paid for gift cards, prepaid credit or cash vouches for nobody: that can be sold again.',
  'Where money is short, one listing of each seller comes before a second one of any, and buyers who gave more before those who gave less.',
  `What a buyer gave goes first to the sellers it bought from first in 90 days. Sellers it paid less than ${toUsd(VOUCHING.usdToComeFirst)} come after the others.`,
  `The rule holds where at least ${VOUCHING.measuredSeeds} sellers on the list are measured. Elsewhere every buyer counts, and the listing says so.`,
  'Buyers nobody vouches for may be perfectly real. They are counted apart, and never called wash.',
]

const VOUCHING_NOT_CAUGHT = [
  'A seller that buys from sellers on the list anyway can split those purchases over many wallets. They become buyers for the fees alone.',
  'A cheat that has a shop which strangers really pay, under another domain and payout, can pay itself there up to what they paid. Two buyers of known sellers who are rewarded for one large payment there are enough.',
  'Real buyers who are rewarded for a purchase, or whom a platform makes pay in passing, count with all they spent elsewhere.',
  'A rival that pays people to buy from its shops before they ever buy from a seller can take most of that seller’s score. It has to pay everybody who may become a buyer, or go on for 90 days. A rival that knows who will buy pays less: under a dollar in our experiment.',
  'A wallet that pays for many people, such as an agent platform’s, is one buyer to us.',
  'What was bought may be sold again, where people filed its seller under something else. Refunds that take another way than the payment are not seen.',
  'Buyers who spend only with sellers that never meet the list do not count, however real they are.',
]

const NOT_CAUGHT = [
  'money of the seller’s that reached a payer through two wallets or more, through an exchange or a pool, in another token, more than '.concat(
    `${hopDays} days before, or as less than half of what the payer had`,
  ),
  'money that went back to a payer by another wallet, in another token or off the chain',
  'on Solana, money that reached a payer through any other wallet',
  'many wallets within minutes that pay different amounts',
  'payments that a chain node leaves out: we ask one node a chain and do not prove its answers',
  'a payer whose money nobody has traced yet: the listing says of how many payments that is so',
]

function toPercent(share: number): string {
  return `${Math.round(share * 100)} %`
}
