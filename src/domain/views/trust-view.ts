import * as v from 'valibot'
import { LIVE_TESTED } from '../derived/derived-listing.ts'
import type { Tables } from '../derived/tables.ts'
import { toCountText, toSumText, toUsd } from '../listing/pricing.ts'
import {
  type Measured,
  OWN_EVIDENCE,
  RawSchema,
  WashFlagSchema,
  WatchSchema,
} from '../trust/evidence.ts'
import { COUNTED_SCHEMES, SCHEMES } from '../trust/payments.ts'
import { CHEATING, VOUCHING } from '../trust/score-listings.ts'
import { pointsOf, scoreTrust, TRUST, type TrustInput, type TrustVerdict } from '../trust/trust.ts'
import { BRIDGED_COINS } from '../trust/usd-assets.ts'
import { WASH, WASH_FLAGS, type WashFlagId } from '../trust/wash.ts'
import { count, MINUTE_MS } from '../wire/shapes.ts'

/** `hub-trust-v0.1`. The published constants are the ones used. */
const TRUST_METHOD = 'hub-trust-v0.1'

const EVIDENCE = [
  'verified_non_wash_payments',
  'no_payment_data',
  'no_independent_paid_usage_30d',
] as const

/** spec: Trust. Each kind of evidence is its own variant, so that a wrong mix does not compile. */
const scored = {
  score: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
  evidence: v.literal('verified_non_wash_payments'),
  /** Present, and `low`, when the score rests on few buyers or settlements. */
  sample: v.optional(v.literal('low')),
  verified_buyers_30d: count,
  settlements_30d: count,
  /** Payers left out because no independent seller vouches for them; absent where unknown. */
  unknown_buyers_30d: v.optional(count),
  /** What inventing these buyers would have cost, in dollars; absent where unknown. */
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
  /** Counts before exclusions, where transactions are known one by one. */
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

/** Buyers count fractionally; the wire has whole numbers. */
function toWholeCounts({ verified_buyers_30d, settlements_30d }: Measured) {
  return {
    verified_buyers_30d: Math.round(verified_buyers_30d),
    settlements_30d: Math.round(settlements_30d),
  }
}

/** What inventing this many buyers of one listing would have cost, in dollars and cents. */
function toCostOfBuyers(buyers: number): number {
  return Math.round((buyers * VOUCHING.microsAListing) / 10_000) / 100
}

/** Says, next to a score, that nobody could vouch for its buyers. */
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
  // The evidence's own members; `source` is the attribution here, and days are published separately.
  const { days, source: _, watch, ...measured } = trust.measured
  return { ...measured, ...summary, method: TRUST_METHOD, source }
}

/**
 * How much a score can be relied on, in the words that every page and answer uses.
 * @example toWorth(trust) → 'These 12 buyers also paid sellers we know to be independent. We know
 *   nothing about 3 more. Inventing the 12 would have cost $3.12.'
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

const MICRO = 1_000_000

const { roundTripShare, hopDays, burst } = WASH

const texts = v.array(v.string())
const rows = v.array(v.looseObject({}))

/**
 * `GET /api/v1/trust/method`: the constants that compute the score, and what they mean. OpenAPI has
 * only its outline: the answer itself shows the rest.
 */
export const TrustMethodSchema = v.object({
  method: v.literal(TRUST_METHOD),
  summary: v.string(),
  /** The current state, what is counted, and how far to rely on a score. */
  in_short: texts,
  formula: v.record(v.string(), v.string()),
  constants: v.looseObject({}),
  evidence: rows,
  sources: texts,
  never: texts,
  excluded: rows,
  /** Everything known to get past the rules. */
  gets_past: texts,
  /** How anybody can compute the scores from the published rows, step by step. */
  recompute: texts,
  /** Coins redeemed by a bridge instead of their issuer, and whether payments in them count. */
  bridged: rows,
  /** Ways of paying whose payments are counted, as `paid_by` names them, and why that is safe. */
  seen: rows,
  /** Ways of paying whose payments are not counted, and why. */
  not_seen: rows,
  vouching: v.looseObject({}),
  /** The cheapest way we found to invent buyers for this score, in dollars per listing. */
  cost_of_cheating: v.looseObject({}),
  page: v.string(),
})

function listSchemes(isCounted: boolean) {
  return SCHEMES.filter(({ counted }) => counted === isCounted).map(
    ({ counted: _, ...scheme }) => scheme,
  )
}

/** @param measuredOperators how many operators of the list are measured */
export function toTrustMethodView(
  { independentOperators }: Pick<Tables, 'independentOperators'>,
  measuredOperators: number,
) {
  return {
    method: TRUST_METHOD,
    summary:
      'A score from 0 to 100, computed only from payments that a chain shows. No evidence gives no score.',
    in_short: [toToday(measuredOperators), ...IN_SHORT],
    formula: toFormula(),
    constants: toConstants(),
    evidence: EVIDENCE.map((id) => ({ id, meaning: EVIDENCE_MEANINGS[id] })),
    sources: [
      'payments to a payee that the seller proved by a signature, or published on its own site, where the chain proves who paid whom; we publish every payment we looked at with what became of it',
      'else, what an external data provider measured on-chain: the score names the provider and earns no tier or badge',
    ],
    never: ['calls a seller reports', 'clicks', 'ratings', 'payments to this directory'],
    excluded: WASH_FLAGS.map((flag) => ({ flag, rule: EXCLUSION_RULES[flag] })),
    gets_past: GETS_PAST,
    recompute: RECOMPUTE,
    bridged: [...BRIDGED_COINS],
    seen: listSchemes(true),
    not_seen: listSchemes(false),
    vouching: toVouching(independentOperators, measuredOperators),
    cost_of_cheating: { ...CHEATING, sentences: CHEATING_COSTS },
    page: '/trust',
  }
}

function toVouching(operators: Tables['independentOperators'], measured: number) {
  return {
    // Dollars that a buyer must pay known sellers to count in full for one listing.
    usd_a_listing: VOUCHING.microsAListing / MICRO,
    custom_a_day_usd: VOUCHING.customADay / MICRO,
    most_custom_usd: VOUCHING.mostCustom / MICRO,
    // Dollars that buyers must have paid a known operator for it to be measured.
    usd_a_measured: VOUCHING.microsAMeasuredSeed / MICRO,
    // How many known operators must be measured for the rule to apply, and how many are.
    needed: VOUCHING.measuredSeeds,
    measured,
    rules: RULE,
    reasons: RULE_REASONS,
    independent_operators: operators.map((row) => ({ ...row })),
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

function toConstants() {
  const { weights, saturation, recency, perPayer } = TRUST
  const { buyers, settlements, volumeUsd: volume_usd } = saturation
  return {
    window_days: TRUST.windowDays,
    weights,
    saturation: { buyers, settlements, volume_usd },
    concentration_penalty: TRUST.concentrationPenalty,
    recency: { fresh_days: recency.freshDays, floor: recency.floor },
    shrink_buyers: TRUST.shrinkBuyers,
    a_payer: { settlements: perPayer.settlements, volume_usd: perPayer.volumeUsd },
    sample_gate: TRUST.sampleGate,
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

const { microsAListing, customADay, mostCustom, measuredSeeds, microsAMeasuredSeed } = VOUCHING
const FULL = `${microsAListing / 10_000} cents`
const A_DAY = `${customADay / 10_000} cents`
const MOST = `${mostCustom / 10_000} cents`
const MEASURED = toUsd(microsAMeasuredSeed / 1_000_000)
const SWITCH = toUsd((measuredSeeds * microsAMeasuredSeed) / 1_000_000)

const KNOWN =
  'known sellers: services that people picked by hand, which nobody could have set up for cheating'

/** The current state: how many known sellers are measured, and what that means. */
function toToday(measured: number): string {
  if (measured < measuredSeeds)
    return `A real buyer also pays ${KNOWN}. We need ${measuredSeeds} of those with ${MEASURED} from their buyers in ${TRUST.windowDays} days (at most ${FULL} of each buyer counts), and today have ${measured}. Until then we cannot tell real buyers from invented ones: every buyer counts, invented buyers cost under a cent, and no score earns a tier or a badge.`
  return `A real buyer also pays ${KNOWN}. We measure ${measured} of those. Inventing buyers for a score of ${CHEATING.score} costs ${PRICE} a listing or more.`
}

const PRICE = toUsd(CHEATING.usd)

/** What cheating and harming cost, in three sentences; a simulation of ours tests them. */
const CHEATING_COSTS = [
  `Where ${measuredSeeds} known sellers are measured, no way that we found to invent buyers for a score of ${CHEATING.score} costs less than ${PRICE} a listing, the hundredth included; elsewhere invented buyers cost under a cent.`,
  'A rival who wants a third off an honest seller’s score pays $5 or more. Where that seller’s buyers are few or spend little, a few dozen cents are enough: rewards to them for buying elsewhere.',
  'Of buyers who use two sellers or more and pay a known one, the rule kept nine of ten in the richest market that we invented, and more than seven of ten in the middle one.',
]

const IN_SHORT = [
  'Calls, clicks, ratings and card payments never count. A payment counts when a blockchain shows it and its payee is the seller’s: proved by a signature, or published on the seller’s own site.',
  'A score says that people paid this seller lately, not that the service is good. A seller without one has no payments that we measured.',
]

/** The rule for buyers, in three sentences. */
const RULE = [
  `A buyer is known by what it paid, in the same ${TRUST.windowDays} days, to known sellers (they are listed below): ${FULL} of that money for each listing where it counts in full.`,
  `The money is spread over all other listings it bought from, in proportion to the square of its custom there; custom is what it paid on each day, up to ${A_DAY} a day and ${MOST} in all. No listing gets more than ${FULL}, and what is over goes to the others in the same proportion.`,
  `What a listing gets, divided by ${FULL}, is the part of a buyer that counts there, and each of its payments and dollars counts by that part.`,
]

const RULE_REASONS = [
  'A buyer’s part depends on its own payments and the list alone: two people who read the same rows get the same digits. A dollar never vouches for two buyers.',
  'The square keeps cheap shops from crowding out a seller whose customers come back; days keep a rival from paying once for all of them.',
  `With fewer than ${measuredSeeds} measured known sellers (${MEASURED} from buyers in the window, at most ${FULL} of each) every buyer counts in full, and no score earns a tier or a badge.`,
  'A payee is a known seller’s where people found it on that seller’s own site. A buyer that nobody vouches for is counted apart, and never called wash.',
]

/** Enough to compute every score from the published files. */
const RECOMPUTE = [
  'Take the rows with verdict `counted` whose `at` is not later than `as_of`, and later than 30 days (of 86,400 seconds) before it. All amounts below are whole numbers (of any size) in millionths, and “divided” always rounds down.',
  'The seller of a row is the `owner` of the payee `<network>:<payee>`; addresses on `eip155` chains compare in lower case. A known seller is one that `seeds` names.',
  `A known seller is measured where what each buyer paid it (the sum of \`usd_micro\` of those rows, at most ${microsAListing.toLocaleString('en')} of each buyer) comes to ${microsAMeasuredSeed.toLocaleString('en')} or more. A buyer is a \`payer\`, on whatever chain. Where fewer than ${measuredSeeds} are measured, every buyer’s part is 1,000,000 at each listing it paid. Go on at step 7.`,
  'What a buyer gave is the sum of `usd_micro` of its rows to known sellers. Its part at a listing that it paid through a known seller’s payee is what it gave without what it paid that seller, at most '.concat(
    `${microsAListing.toLocaleString('en')}, times 1,000,000, divided by ${microsAListing.toLocaleString('en')}. Its part at all other listings follows from steps 5 and 6.`,
  ),
  `Of its other rows, each gives each of its \`listings\` \`usd_micro\` divided by the number of those listings. Add that up by listing and day (the first ten characters of \`at\`), at most ${customADay.toLocaleString('en')} a day; add up the days, at most ${mostCustom.toLocaleString('en')}. The square of that is the listing’s claim.`,
  `Take the listings by claim, the largest first; the order of equal claims changes nothing. “Left” starts as what the buyer gave, “all” as the sum of the claims. A listing’s share is left times claim, divided by all (0 where all is 0). Its part is the share, at most ${microsAListing.toLocaleString('en')}, times 1,000,000, divided by ${microsAListing.toLocaleString('en')}. Where the share is ${microsAListing.toLocaleString('en')} or more, take ${microsAListing.toLocaleString('en')} off left, and the claim off all, before the next listing.`,
  `For each listing, take the rows that have it among their \`listings\`, and each buyer with a part above 0. Its payments are its rows, at most ${TRUST.perPayer.settlements}. Its dollars are the sum of \`usd_micro\` of its rows (not divided), at most ${(TRUST.perPayer.volumeUsd * 1_000_000).toLocaleString('en')}, times its part, divided by 1,000,000.`,
  'With three such buyers or more, no buyer’s dollars are more than those of all others together (only the largest can be: lower it to that sum).',
  'B is the sum of the parts, N the sum of part times payments, V the sum of dollars, each over 1,000,000 with its fraction. c is the largest dollars over all dollars, but at least 1/B, and at most 1; 0 where V is 0.',
  'The last settlement is the latest `at` of these buyers’ rows. Where listings share a payee, the formula divides N and V by the largest number of `listings` in any row of step 1 that has this listing.',
  'Where B is under 0.5, the listing gets no score. Otherwise the formula gives it, rounded to the nearest whole number, halves up. Days are counted with their fraction, from the last settlement to `as_of`.',
]

const EVIDENCE_MEANINGS: Record<(typeof EVIDENCE)[number], string> = {
  verified_non_wash_payments: 'Independent buyers paid this seller in the window.',
  no_payment_data: 'No payments that may count were measured in the window.',
  no_independent_paid_usage_30d:
    'Payments were measured, but none in the window came from an independent buyer.',
}

/** The exclusions before anything is counted, where transactions are known. */
const EXCLUSION_RULES: Record<WashFlagId, string> = {
  self_payment: 'the payer is the payout address or a wallet of the claiming seller',
  funded_by_payout: `the payer had money of the payout address before it first paid: straight from it, or, in the ${hopDays} days before, through one other wallet that gave it most of what it had`,
  round_trip: `at least ${toPercent(roundTripShare)} of what was paid went back to the payer`,
  burst_cohort: `${burst.cohort} or more first-time payers of one same amount, at least ${toPercent(burst.share)} of them inside ${burst.windowMs / MINUTE_MS} minutes, and a second sign of one hand: one wallet had funded at least ${toPercent(burst.funderShare)} of them, or none of them ever paid anyone else. A mint, a bridge and an exchange fund everybody’s wallets: one of them as the funder proves nothing. Left out are the wallets of those minutes, and where one wallet had funded half of them, those that it funded`,
}

const GETS_PAST = [
  'A seller that buys from known sellers anyway can split its purchases over many wallets, and gets invented buyers for the fees alone.',
  'Rewarded buyers, and buyers whom a platform makes pay in passing, count by what they paid known sellers.',
  `A known seller could invent buyers for anybody, or give back less than ${toPercent(roundTripShare)}. We choose them, and nobody who sells gift cards, credit or cash.`,
  'Where a known seller refunds failed calls, cheating costs less than a sixth of the price we name.',
  'A rival that pays a seller’s buyers to buy elsewhere, or trades with them, takes part of what vouches for them: where they are few or spend little, under $5 takes a third of a score.',
  'Listings of one seller that share a payee share its buyers: an unused listing looks used, and all of them score lower.',
  'Whoever buys a domain keeps its score for thirty days. What a listing sells may change while its score stays.',
  'One address may be two people’s smart wallets on two chains.',
  'Faking a score that names a provider costs what that provider’s rules require, which may be nothing.',
  'Wallets that a rival funds before a launch look like one buyer; so does a wallet that got half of its money from a seller’s refund.',
  'Somebody who publishes a busy stranger’s wallet gets its score until a seller listed here publishes it too, and deprives a listed seller that published it without proof. A proof of the address ends both; known sellers are safe.',
  'A flood of a hundred thousand new wallets, or of dust on Solana, can delay new payers by an hour: their payments are shown at once and count later.',
  'A wallet that pays for many people is one buyer to us.',
  `Once three known sellers are measured, buyers who never paid a known seller stop counting: one to eight in ten in our simulated markets. Anybody can cause this for at most ${SWITCH}, from ${microsAMeasuredSeed / microsAListing} wallets.`,
  `The seller’s own money is not recognised when it comes through two wallets, an exchange, a bridge or a pool, or through any wallet on Solana; in another token; more than ${hopDays} days before the first payment, or after it; or as less than half of what the payer had. Nor are refunds by another way.`,
  'Wallets that pay different amounts within minutes do not make a burst, nor do wallets that a contract filled, if one of them also paid somebody else.',
  'For each payee we look up only the 500 largest transactions in each stretch of blocks, so smaller Permit2 and Tempo payments can be missed.',
  'We ask one node a chain and do not prove its answers; anybody can check the rows with another.',
]

function toPercent(share: number): string {
  return `${Math.round(share * 100)} %`
}

const BUSY = { buyers: 80, settlements: 900, volumeUsd: 600, topBuyerShare: 0.1 }
const SMALL = { buyers: 12, settlements: 340, volumeUsd: 12.5, topBuyerShare: 0.4 }
const FIRST = { buyers: 2, settlements: 4, volumeUsd: 0.2, topBuyerShare: 0.6 }

/** An example's title, what it shows, and its facts. */
type Case = [title: string, note: string, facts: typeof BUSY & Partial<TrustInput>]

const CASES: readonly Case[] = [
  ['A busy service', 'Many buyers, none of them large, paid this week.', BUSY],
  [
    'The same service with one large buyer',
    'A buyer with most of the volume costs up to half of the score.',
    { ...BUSY, topBuyerShare: 0.9 },
  ],
  [
    'The same service three weeks after its last sale',
    'The score falls after the first week without a settlement.',
    { ...BUSY, daysSinceLast: 21 },
  ],
  ['A small, honest service', 'Low prices do no harm, because buyers count most.', SMALL],
  ['First sales', 'Few buyers prove little, so the score is marked "low sample".', FIRST],
  [
    'A payout address shared by ten listings',
    'Settlements and volume are divided by the listings that share the address.',
    { ...BUSY, sharers: 10 },
  ],
]

/** Worked examples of the method page, computed by the method itself. */
export function toTrustExamples() {
  return CASES.map(([title, note, facts]) => {
    const input = { daysSinceLast: 1, sharers: 1, ...facts }
    return { title, input, note, score: scoreTrust(input) }
  })
}

/** A step from zero to the score; the points of all steps add up to the score. */
export interface ScorePart {
  label: string
  /** Points with one decimal; negative for a deduction. */
  points: number
}

/** The explanation of a score, in the order of the formula; empty without a score. */
export function toScoreParts(trust: TrustVerdict): ScorePart[] {
  if (trust.evidence !== 'verified_non_wash_payments') return []
  const { input, measured } = trust
  const points = pointsOf(input)
  const among = input.sharers > 1 ? `, shared by ${input.sharers}` : ''
  const parts = [
    ['buyers', toCountText(Math.round(input.buyers), 'buyer')],
    ['settlements', `${toCountText(Math.round(input.settlements), 'settlement')}${among}`],
    ['volume', `${toSumText(input.volumeUsd)} volume${among}`],
    ['share', `Largest buyer ${Math.round(input.topBuyerShare * 100)} %`],
    ['recency', `Last paid ${(measured.last_settlement_at ?? measured.as_of).slice(0, 10)}`],
    ['sample', `Sample of ${toCountText(Math.round(input.buyers), 'buyer')}`],
  ] as const
  return toSum(
    trust.score,
    parts.map(([rule, label]) => ({ label, points: points[rule] })),
  )
}

/** The score is whole and parts have a decimal: the rounding difference goes to the last part. */
function toSum(score: number, parts: readonly ScorePart[]): ScorePart[] {
  const rounded = parts.map((part) => ({ ...part, points: roundTo(part.points) }))
  const rest = roundTo(score - rounded.reduce((sum, { points }) => sum + points, 0))
  return rounded.map((part, index) =>
    index === rounded.length - 1 ? { ...part, points: roundTo(part.points + rest) } : part,
  )
}

function roundTo(points: number): number {
  return Math.round(points * 10) / 10
}
