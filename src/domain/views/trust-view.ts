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

/** The method's name. The scores are computed with the very constants that the method publishes. */
const TRUST_METHOD = 'hub-trust-v0.1'

const EVIDENCE = [
  'verified_non_wash_payments',
  'no_payment_data',
  'no_independent_paid_usage_30d',
] as const

/** spec: Trust. Each kind of evidence is its own variant, so a wrong mix cannot compile. */
const scored = {
  score: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
  evidence: v.literal('verified_non_wash_payments'),
  /** Present, and `low`, if the score rests on few buyers or settlements. */
  sample: v.optional(v.literal('low')),
  verified_buyers_30d: count,
  settlements_30d: count,
  /** Payers left out because no independent seller vouches for them; absent if unknown. */
  unknown_buyers_30d: v.optional(count),
  /** What inventing these buyers would have cost, in dollars; absent if unknown. */
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
  /** How the counted payments were made; absent if not recorded. */
  paid_by: v.optional(v.array(v.picklist(COUNTED_SCHEMES))),
  /** Counts before exclusions, if transactions are known one by one. */
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

/** Buyers may be counted as fractions; answers contain whole numbers. */
function toWholeCounts({ verified_buyers_30d, settlements_30d }: Measured) {
  return {
    verified_buyers_30d: Math.round(verified_buyers_30d),
    settlements_30d: Math.round(settlements_30d),
  }
}

/** What inventing this many buyers for one listing would have cost, in dollars and cents. */
function toCostOfBuyers(buyers: number): number {
  return Math.round((buyers * VOUCHING.microsAListing) / 10_000) / 100
}

/** A warning next to a score whose buyers nobody could vouch for. */
function toIndependenceWatch({ source, unknown_buyers_30d }: Measured): Measured['watch'] {
  if (unknown_buyers_30d !== undefined) return []
  const reason =
    source === OWN_EVIDENCE
      ? 'We measure fewer than three of the sellers we know to be independent'
      : `The provider ${source} counted these buyers, and gives only totals`
  const note = `${reason}. Nobody can tell these buyers from invented ones, which cost under a cent.`
  return [{ id: 'independence_unmeasured', note }]
}

/** @param source the attribution text of the evidence's provider */
export function toTrustView(trust: TrustVerdict, source: string): TrustView {
  const summary = toTrustSummary(trust)
  if (trust.evidence === 'no_payment_data' || summary.evidence === 'no_payment_data')
    return { score: null, evidence: 'no_payment_data', method: TRUST_METHOD }
  // The answer's `source` is the attribution text; days are published in another file.
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
 * `GET /api/v1/trust/method`: the constants that the score is computed from, and what they mean. OpenAPI only
 * outlines this answer: the answer itself shows the rest.
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
  /** All ways of cheating that we know to get past the rules. */
  gets_past: texts,
  /** How anybody can compute the scores from the published rows, step by step. */
  recompute: texts,
  /** Coins redeemed by a bridge instead of their issuer, and whether payments in them are counted. */
  bridged: rows,
  /** Payment schemes whose payments are counted, as `paid_by` names them, and why that is safe. */
  seen: rows,
  /** Payment schemes whose payments are not counted, and why. */
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

/** @param measuredOperators how many operators on the list are measured */
export function toTrustMethodView(
  { independentOperators }: Pick<Tables, 'independentOperators'>,
  measuredOperators: number,
) {
  return {
    method: TRUST_METHOD,
    summary:
      'A score from 0 to 100, computed only from payments that a chain shows. Without such evidence there is no score.',
    in_short: [toToday(measuredOperators), ...IN_SHORT],
    formula: toFormula(),
    constants: toConstants(),
    evidence: EVIDENCE.map((id) => ({ id, meaning: EVIDENCE_MEANINGS[id] })),
    sources: [
      'payments to a payee that the seller proved by a signature, or published on its own site, if the chain proves who paid whom; we publish every payment we looked at, and whether we counted it',
      'otherwise, what an external data provider measured on-chain: the score then names the provider and earns no tier or badge',
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
    // What a buyer must have paid known sellers (USD) to be counted in full for one listing.
    usd_a_listing: VOUCHING.microsAListing / MICRO,
    custom_a_day_usd: VOUCHING.customADay / MICRO,
    most_custom_usd: VOUCHING.mostCustom / MICRO,
    // What buyers must have paid a known operator (USD) for it to be measured.
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
    symbols: `B is the number of buyers, N the number of settlements, V the volume in US dollars, c the largest buyer’s share of V, at least 1/B; all in the window. One buyer adds at most ${TRUST.perPayer.settlements} settlements and ${toUsd(TRUST.perPayer.volumeUsd)}; if there are three buyers or more, one buyer adds no more dollars than all others together`,
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
  'known sellers: services that we picked by hand, because they were surely not set up to cheat'

/** The current state: how many known sellers are measured, and what that means. */
function toToday(measured: number): string {
  if (measured < measuredSeeds)
    return `A real buyer also pays ${KNOWN}. We need ${measuredSeeds} known sellers that each got ${MEASURED} from their buyers in ${TRUST.windowDays} days (at most ${FULL} from each buyer counts), and have ${measured} today. Until then we cannot tell real buyers from invented ones: every buyer counts, invented buyers cost under a cent, and no score earns a tier or a badge.`
  return `A real buyer also pays ${KNOWN}. We measure ${measured} known sellers. Inventing buyers for a score of ${CHEATING.score} costs ${PRICE} or more per listing.`
}

const PRICE = toUsd(CHEATING.usd)

/** What it costs to cheat or to harm a rival, in three sentences; a simulation of ours tests them. */
const CHEATING_COSTS = [
  `Once ${measuredSeeds} known sellers are measured, every way that we found to invent buyers for a score of ${CHEATING.score} costs ${PRICE} or more per listing, even at the hundredth listing; before that, invented buyers cost under a cent.`,
  'A rival who wants to lower an honest seller’s score by a third pays $5 or more. If that seller’s buyers are few or spend little, a few dozen cents are enough: the rival rewards those buyers for buying elsewhere.',
  'In our two simulated markets, most buyers who use two or more sellers, one of them known, still count: nine of ten in the richer market, and more than seven of ten in the other.',
]

const IN_SHORT = [
  'Calls, clicks, ratings and card payments never count. A payment counts when a blockchain shows it and the address it went to is the seller’s: the seller proved that by a signature, or published the address on its own site.',
  'A score says that people paid this seller lately, not that the service is good. A seller without a score has no payments that we measured.',
]

/** The rule for buyers, in three sentences. */
const RULE = [
  `What vouches for a buyer is the money that it paid, in the same ${TRUST.windowDays} days, to known sellers (they are listed below). To count in full for one listing, a buyer uses up ${FULL} of that money.`,
  `That money is spread over all other listings that the buyer bought from, in proportion to the square of its custom at each; custom is what the buyer paid on each day, up to ${A_DAY} a day and ${MOST} in all. No listing gets more than ${FULL}; any surplus goes to the other listings in the same proportion.`,
  `What a listing gets, divided by ${FULL}, is the part of the buyer that is counted at that listing. The buyer’s payments and dollars there are multiplied by that part.`,
]

const RULE_REASONS = [
  'A buyer’s part depends only on its own payments and the list of known sellers: two people who read the same rows get the same digits. A dollar never vouches for two buyers.',
  'The square keeps cheap shops from crowding out a seller whose customers come back; the daily limit keeps a rival from matching many days’ custom with one payment.',
  `While fewer than ${measuredSeeds} known sellers are measured (their buyers paid ${MEASURED} in the window, at most ${FULL} of it from each), every buyer counts in full, and no score earns a tier or a badge.`,
  'A payee belongs to a known seller if people found it on that seller’s own site. A buyer that nobody vouches for is counted separately, and never called wash.',
]

/** The steps by which anybody can compute every score from the published files. */
const RECOMPUTE = [
  'Take the rows with verdict `counted` whose `at` is `as_of` or earlier, but later than 30 days (of 86,400 seconds) before `as_of`. All amounts below are whole numbers (of any size) in millionths, and “divided” always rounds down.',
  'The seller of a row is the `owner` of the payee `<network>:<payee>`; compare addresses on `eip155` chains in lower case. A known seller is one named in `seeds`.',
  `A buyer is a \`payer\`, on whatever chain. For each known seller, add up what each buyer paid it (the sum of \`usd_micro\` of those rows, at most ${microsAListing.toLocaleString('en')} for each buyer): a seller with ${microsAMeasuredSeed.toLocaleString('en')} or more in all is measured. If fewer than ${measuredSeeds} known sellers are measured, every buyer’s part is 1,000,000 at each listing it paid: go on at step 7.`,
  'What a buyer gave is the sum of `usd_micro` of its rows to known sellers. The buyer’s part at a listing that it paid through a known seller’s payee is what it gave, less what it paid that seller, at most '.concat(
    `${microsAListing.toLocaleString('en')}, times 1,000,000, divided by ${microsAListing.toLocaleString('en')}. The buyer’s part at all other listings follows from steps 5 and 6.`,
  ),
  `Take the buyer’s other rows. Split the \`usd_micro\` of each row equally among the listings in its \`listings\`. Add these amounts up by listing and day (the first ten characters of \`at\`), at most ${customADay.toLocaleString('en')} a day; then add up the days, at most ${mostCustom.toLocaleString('en')}. The square of this sum is the listing’s claim.`,
  `Go through the listings by claim, the largest first; the order of equal claims changes nothing. “Left” starts as what the buyer gave, “all” as the sum of the claims. A listing’s share is left times claim, divided by all (0 if all is 0). The buyer’s part there is the share, at most ${microsAListing.toLocaleString('en')}, times 1,000,000, divided by ${microsAListing.toLocaleString('en')}. If the share is ${microsAListing.toLocaleString('en')} or more, subtract ${microsAListing.toLocaleString('en')} from left, and the claim from all, before the next listing.`,
  `For each listing, take the rows that have it among their \`listings\`, and each buyer with a part above 0 there. The buyer’s payments are the number of its rows, at most ${TRUST.perPayer.settlements}. The buyer’s dollars are the sum of \`usd_micro\` of its rows (not divided), at most ${(TRUST.perPayer.volumeUsd * 1_000_000).toLocaleString('en')}, times its part, divided by 1,000,000.`,
  'If a listing has three such buyers or more, and the largest has more dollars than all others together, lower the largest’s dollars to the sum of the others’.',
  'B is the sum of the parts, N the sum of part times payments, V the sum of dollars; divide each by 1,000,000 and keep the fraction. c is the largest buyer’s dollars over the dollars of all, but at least 1/B, and at most 1; c is 0 if V is 0.',
  'The last settlement is the latest `at` of these buyers’ rows. Take the rows of step 1 whose `listings` include this listing: the formula divides N and V by the length of the longest such `listings`.',
  'If B is under 0.5, the listing gets no score. Otherwise its score is what the formula gives, rounded to the nearest whole number, halves up. Days since the last settlement are counted up to `as_of`, fractions included.',
]

const EVIDENCE_MEANINGS: Record<(typeof EVIDENCE)[number], string> = {
  verified_non_wash_payments: 'Independent buyers paid this seller in the window.',
  no_payment_data: 'We measured no payments in the window that could count.',
  no_independent_paid_usage_30d:
    'Payments were measured, but none in the window came from an independent buyer.',
}

/** What is left out before anything is counted, if single transactions are known. */
const EXCLUSION_RULES: Record<WashFlagId, string> = {
  self_payment: 'the payer is the payout address or a wallet of the claiming seller',
  funded_by_payout: `before its first payment, the payer got money from the payout address: directly, or, in the ${hopDays} days before, through one other wallet that gave the payer most of its money`,
  round_trip: `at least ${toPercent(roundTripShare)} of what was paid went back to the payer`,
  burst_cohort: `${burst.cohort} or more payers whose first payments are equal, at least ${toPercent(burst.share)} of them within ${burst.windowMs / MINUTE_MS} minutes, and a second sign that one person owns them all: another wallet had funded at least ${toPercent(burst.funderShare)} of them, or none of them ever paid anyone else. Mints, bridges and exchanges fund everybody’s wallets, so a funder of this kind proves nothing. We leave out the wallets that first paid in those minutes; if the second sign is a shared funder, only those that this wallet funded`,
}

const GETS_PAST = [
  'A seller that buys from known sellers anyway can split its purchases over many wallets, and so invent buyers for no more than the fees.',
  'People who are paid to buy count as buyers, and so do people for whom a platform pays: how much each counts depends on what was paid to known sellers.',
  `A known seller could invent buyers for anybody, or give back less than ${toPercent(roundTripShare)} of what buyers paid it. So we choose known sellers ourselves, and choose nobody who sells gift cards, credit or cash.`,
  'If a known seller refunds failed calls, cheating costs less than a sixth of the price we name.',
  'A rival that pays a seller’s buyers to buy elsewhere, or trades with them, weakens what vouches for these buyers; if they are few or spend little, less than $5 can cost the seller a third of its score.',
  'Listings of one seller that share a payee share its buyers: an unused listing looks used, and all of them score lower.',
  'Whoever buys a domain keeps its score for thirty days. A listing keeps its score even if it sells something else from now on.',
  'One address may be two people’s smart wallets on two chains.',
  'Faking a score that names a provider costs what that provider’s rules require, which may be nothing.',
  'Wallets that a rival funds before a launch can look like wallets of one person, and are then left out; so is a wallet that got half of its money from a seller’s refund.',
  'Somebody who publishes a busy stranger’s wallet as a payee gets that wallet’s score until another seller listed here publishes the wallet too. In the same way, a listed seller that published its wallet without proof loses its score. Proving the address ends both; known sellers are safe.',
  'A flood of a hundred thousand new wallets, or of dust on Solana, can delay new payers by an hour: their payments are shown at once, but count later.',
  'A wallet that pays for many people counts as one buyer.',
  `Once three known sellers are measured, buyers who never paid a known seller are no longer counted: 10 to 80 % of all buyers in our simulated markets. Anybody can cause this for at most ${SWITCH}, from ${microsAMeasuredSeed / microsAListing} wallets.`,
  `The seller’s own money is not recognised when it comes through two wallets, an exchange, a bridge or a pool, or through any wallet on Solana; in another token; more than ${hopDays} days before the first payment, or after it; or if it is less than half of what the payer had. Refunds that come back by another route are not recognised either.`,
  'Wallets that pay different amounts within minutes are not recognised as a burst. Neither are wallets that a contract funded, if one of them also paid somebody else.',
  'For each payee we look up only the 500 largest transactions in each stretch of blocks, so smaller Permit2 and Tempo payments can be missed.',
  'We read each chain from one node and do not prove its answers; anybody can check the rows with another node.',
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
  ['A busy service', 'Many buyers, none of them large, have paid this week.', BUSY],
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

/** The method page's worked examples, computed by the method itself. */
export function toTrustExamples() {
  return CASES.map(([title, note, facts]) => {
    const input = { daysSinceLast: 1, sharers: 1, ...facts }
    return { title, input, note, score: scoreTrust(input) }
  })
}

/** One step in the explanation of a score; the points of all steps add up to the score. */
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

/** The score is a whole number and its parts have one decimal, so the last part takes the rounding difference. */
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
