import * as v from 'valibot'
import { type Auth, createSignInSchema } from '../listing/invoke.ts'
import type { ListingFacts } from '../listing/listing-facts.ts'
import { withoutHidden } from '../listing/listing-text.ts'
import { normalizePayout } from '../listing/networks.ts'
import { offersOf, pricingOf } from '../listing/operation.ts'
import { railsOf } from '../listing/pricing.ts'
import {
  BASE_URL_PLACEHOLDER,
  findHostForgery,
  findUrlFault,
  type UrlRules,
} from '../listing/target-url.ts'
import { toSuspicionNotice } from '../probe/mcp.ts'
import { DELIVERS, type Delivered, earnsDelivers } from '../relay/delivered.ts'
import { toDigest, toFactsOfCall } from '../relay/pins.ts'
import type { TaskRow } from '../tasks/task.ts'
import type { PastFacts } from '../trust/age.ts'
import {
  type Evidence,
  type Interface,
  type Notice,
  OWN_EVIDENCE,
  type Probe,
  type Signals,
} from '../trust/evidence.ts'
import type { ListingScore } from '../trust/score-listings.ts'
import { judgeTrust, TRUST, type TrustVerdict } from '../trust/trust.ts'
import { present } from '../wire/json.ts'
import { HOUR_MS } from '../wire/shapes.ts'
import { toOperationKey } from '../wire/text.ts'
import { type BADGES, type BUY, isTelling, isUp, type STATUSES } from '../wire/vocabulary.ts'
import { type SurfaceOperation, toSurface } from './surface.ts'

const TIERS = ['verified', 'trusted'] as const

type TierId = (typeof TIERS)[number]

/** What a listing can earn; `live_tested` is a badge, not a tier. */
const EARNED = ['live_tested', 'verified', 'trusted'] as const

type EarnedId = (typeof EARNED)[number]

/** The fewest probes from which uptime and the slowest answers are computed. */
const LEAST_PROBES = 3

/** A listing with everything that follows from its facts and evidence; views only print it. */
export type DerivedListing = ReturnType<typeof deriveListing>

interface DeriveInput {
  id: string
  facts: ListingFacts
  description: string
  /** The evidence that still applies on the build's day. */
  evidence: Evidence
  /** Evidence that is too old: only the full listing's JSON has it. */
  past?: PastFacts | undefined
  /** Id of the brand's mark. */
  mark?: string | null
  /** The meter's results, if it reads all of the listing's payouts, so that it misses no payment. */
  own: Pick<ListingScore, 'measured' | 'sharers'> | undefined
  isClaimed: boolean
  /** When the owner proved control of the listing's host (Unix time, milliseconds). */
  provedAt?: number | undefined
  /** Deliveries for payments, if known. */
  delivered?: Delivered | undefined
  /** Notices from the ledger, in addition to the notices in the evidence. */
  notices?: readonly Notice[]
  payouts: PayoutState
}

interface DeriveContext {
  rules: UrlRules
  /** `{base_url}`: replaces the placeholder in first-party URLs. */
  baseUrl: string
  directory: string
  /** The build's day, such as 2026-11-26. */
  asOf: string
  tasks: readonly TaskRow[]
}

export function deriveListing(
  given: DeriveInput,
  { rules, baseUrl, directory, asOf, tasks }: DeriveContext,
) {
  const input = cleaned(given)
  const { id, isClaimed, evidence, payouts, mark = null, delivered } = input
  const complete = completeFacts(input, baseUrl, rules)
  const trust = chooseTrust(input, asOf)
  const { probes = [], interface: read } = evidence
  const liveTested = isLiveTested(probes)
  const status: Status = isClaimed ? 'claimed' : 'unclaimed'
  /** The listing's operations, tools and skills, as written by people and read by machines. */
  const surface = toSurface(complete, read, rules, tasks)
  const facts = withToolPrices(complete, surface)
  const isRotating = input.notices.some((notice) => notice.id === 'payout_rotating')
  const payees = payeesOf(facts, surface, read, isRotating)
  let digest: string | undefined
  return {
    ...{ id, directory, facts, mark, status, trust, probes, surface, evidence, payouts, payees },
    /** The description's Markdown source; foreign text. */
    description: describeAt(baseUrl, input),
    buy: judgeBuy(facts, rules),
    isLiveTested: liveTested,
    badges: earnBadges({ status, trust, isLiveTested: liveTested, delivered }),
    ...present({ delivered, past: input.past, provedAt: input.provedAt }),
    tiers: earnTiers({ isClaimed, isLiveTested: liveTested, trust }),
    notices: toNotices(input, surface),
    /** Digest of what a caller relies on. Computed on demand: most rows are copied from the previous build. */
    get digest() {
      digest ??= toDigest({ ...facts, ...surface, payees })
      return digest
    },
    ...chooseSignals(evidence),
  }
}

/** @param isRotating whether the seller names a different address each time, so that no payee is certain */
export function payeesOf(
  { payout = [] }: Pick<ListingFacts, 'payout'>,
  { operations }: { operations: readonly Pick<SurfaceOperation, 'seen'>[] },
  read: Pick<Interface, 'payouts'> | undefined,
  isRotating: boolean,
): string[] {
  const [newest] = (read?.payouts ?? [])
    .map(({ seen_at }) => seen_at)
    .sort()
    .reverse()
  const requested = operations.flatMap(({ seen }) => seen?.pay_to ?? [])
  // If no operation names a payee, as with an MCP server, the payees seen last are taken.
  const last = (read?.payouts ?? []).filter(({ seen_at }) => seen_at === newest)
  const named = requested.length > 0 ? requested : last.map(({ payout }) => payout)
  return [...new Set([...payout, ...(isRotating ? [] : named)].map(normalizePayout))].sort()
}

/** Every output is made from a derived listing, so foreign text is cleaned once, here. */
function cleaned(given: DeriveInput) {
  const { facts, description, evidence, past, notices = [] } = given
  return { ...given, ...withoutHidden({ facts, description, evidence, past, notices }) }
}

type Surface = ReturnType<typeof toSurface>

/** Notices from the listing's evidence, from the ledger, and about suspicious texts, newest first. */
function toNotices(given: DeriveInput, { tools, skills }: Surface): Notice[] {
  const { facts, evidence, notices = [] } = given
  const firstSeen = (name: string) =>
    evidence.drift?.find((row) => row.name === name)?.at ?? `${facts.added}T00:00:00Z`
  const found = toSuspicionNotice([...tools, ...skills], firstSeen)
  const host = URL.parse(facts.url)?.host ?? ''
  const forgery = findHostForgery(host)
  const forged =
    forgery === null
      ? []
      : [
          {
            id: 'suspicious_text' as const,
            note: `The host ${host} looks like another host: ${forgery.replace('expected one script in a word, got ', '')}. Check who owns it.`,
            at: `${facts.added}T00:00:00Z`,
          },
        ]
  return [...(evidence.notices ?? []), ...notices, ...found, ...forged].sort(byNewest)
}

const byNewest = (a: Notice, b: Notice) => (a.at < b.at || (a.at === b.at && a.id > b.id) ? 1 : -1)

/** The score that ranking multiplies by; null unless payments were verified. */
export function trustScoreOf(trust: TrustVerdict): number | null {
  return trust.evidence === 'verified_non_wash_payments' ? trust.score : null
}

export function verifiedBuyersOf(trust: TrustVerdict): number {
  return trust.evidence === 'no_payment_data' ? 0 : Math.round(trust.measured.verified_buyers_30d)
}

/** The provider's signals if there are any; else the results of our own probes, under our own name. */
function chooseSignals({ signals, measured, probes = [] }: Evidence): {
  signals: Signals
  signalsSource: string
} {
  if (signals === undefined && probes.length > 0)
    return { signals: toProbeSignals(probes), signalsSource: OWN_EVIDENCE }
  const as_of = signals?.as_of ?? measured?.as_of
  return {
    signals: { ...signals, ...(signals !== undefined && as_of !== undefined && { as_of }) },
    signalsSource: measured?.source ?? MEASURED_PROVIDER,
  }
}

/** If our meter reads the listing's payouts, only its results are used: the provider sees the same chain. */
function chooseTrust({ evidence, own, payouts }: DeriveInput, asOf: string): TrustVerdict {
  return own === undefined
    ? judgeTrust(evidence.measured, payouts.sharers, asOf)
    : judgeTrust(own.measured, own.sharers, own.measured.as_of)
}

/** Fills in our own address, and the sign-in facts that a machine read. */
function completeFacts(
  { facts, evidence }: Pick<DeriveInput, 'facts' | 'evidence'>,
  baseUrl: string,
  rules: UrlRules,
): ListingFacts {
  const placed = placeAt(baseUrl, facts)
  return { ...placed, auth: withSeenSignIn(placed.auth, evidence, rules) }
}

/**
 * Sign-in facts written by people win, member by member. A server with sign-in metadata requires
 * OAuth, even if nobody recorded that; any other kind of access that people recorded stays.
 */
export function withSeenSignIn(
  auth: Auth,
  { sign_in }: Pick<Evidence, 'sign_in'>,
  rules: UrlRules,
): Auth {
  if (sign_in === undefined || (auth.type !== 'oauth' && auth.type !== 'unknown')) return auth
  const { at: _at, ...seen } = sign_in
  const written = auth.type === 'oauth' ? auth.sign_in : undefined
  const joined = v.safeParse(createSignInSchema(rules), { ...seen, ...written })
  return joined.success ? { ...auth, type: 'oauth', sign_in: joined.output } : auth
}

/** If nothing else is known, a server's price is the price of its paid tools. */
function withToolPrices(facts: ListingFacts, { tools }: Surface): ListingFacts {
  const paid = offersOf(tools).filter(({ max_usd }) => max_usd > 0)
  return facts.pricing.model !== 'unknown' || facts.cost === 'free' || paid.length === 0
    ? facts
    : { ...facts, pricing: pricingOf(paid) }
}

/** In foreign text `{base_url}` stays: it is part of somebody's API template, not our address. */
function placeAt(baseUrl: string, facts: ListingFacts): ListingFacts {
  if (!facts.first_party) return facts
  const place = (url: string) => url.replace(BASE_URL_PLACEHOLDER, () => baseUrl)
  const sources = facts.sources.map((source) => ({ ...source, ref: place(source.ref) }))
  return { ...facts, url: place(facts.url), sources }
}

/** Like `placeAt`: our address is filled in only in our own texts. */
function describeAt(baseUrl: string, { facts, description }: DeriveInput): string {
  return facts.first_party
    ? description.replaceAll(BASE_URL_PLACEHOLDER, () => baseUrl)
    : description
}

/** Whether the relay can call a listing; if not, `reason` says why. */
export function judgeBuy(facts: ListingFacts, rules: UrlRules) {
  const reason = findRelayFault(facts, rules)
  const buy: Buy = reason === null ? 'relay_x402' : 'link_out'
  return { buy, reason }
}

function findRelayFault(facts: ListingFacts, rules: UrlRules): string | null {
  if (facts.kind !== 'http_api')
    return `The relay calls http_api listings; this one is ${facts.kind}.`
  if (facts.closed) return 'The seller has closed this listing to the relay.'
  if (!railsOf(facts.pricing).includes('x402'))
    return 'The relay needs the rail x402, which this listing does not advertise.'
  return findUrlFault(facts.url, rules) === null
    ? null
    : 'The relay needs an https URL on a public host.'
}

/**
 * Signals for listings that no provider measures. An answer that requires credentials means up; the
 * last probe decides the current status.
 */
export function toProbeSignals(probes: readonly Probe[]): Signals {
  const conclusive = probes
    .filter(isTelling)
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
  const last = conclusive.at(-1)
  if (last === undefined) return {}
  const within = (hours: number) =>
    conclusive.filter(({ at }) => Date.parse(last.at) - Date.parse(at) < hours * HOUR_MS)
  const month = within(30 * 24)
  const times = month
    .flatMap(({ outcome, ms }) => (outcome === 'spoke' && ms !== undefined ? [ms] : []))
    .sort((a, b) => a - b)
  return {
    status: isUp(last) ? 'online' : 'offline',
    ...toUptime('uptime_24h', within(24)),
    ...toUptime('uptime_30d', month),
    // The 95th percentile, by the nearest rank.
    ...(times.length >= LEAST_PROBES && { p95_ms: times[Math.ceil(0.95 * times.length) - 1] }),
    as_of: last.at,
  }
}

function toUptime(name: 'uptime_24h' | 'uptime_30d', probes: readonly Probe[]): Signals {
  if (probes.length < LEAST_PROBES) return {}
  const share = probes.filter(isUp).length / probes.length
  return { [name]: Math.round(share * 10_000) / 100 }
}

const { buyers: MIN_BUYERS, settlements: MIN_SETTLEMENTS } = TRUST.sampleGate

/** The specification's reasons why a listing lacks a tier. */
export const TIER_REASONS = {
  unclaimed: 'the listing is not claimed with domain proof',
  notLiveTested: 'needs the earned Live-Tested badge',
  noSales: 'no independent sales yet',
  tooFewSales: `needs ${MIN_BUYERS}+ independent buyers and ${MIN_SETTLEMENTS}+ settlements in 30 days`,
} as const

export const TIER_LABELS: Record<EarnedId, string> = {
  live_tested: 'Live-Tested',
  verified: 'Verified',
  trusted: 'Trusted',
}

export const EarnedTiersSchema = v.object({
  tier: v.nullable(v.picklist(TIERS)),
  tier_label: v.nullable(v.string()),
  highest_earned: v.nullable(v.picklist(TIERS)),
  earned: v.array(v.picklist(EARNED)),
  /** Always empty: tiers are not sold. */
  paid: v.pipe(v.array(v.never()), v.maxLength(0)),
  not_yet: v.array(v.object({ id: v.picklist(TIERS), reason: v.string() })),
})
type EarnedTiers = v.InferOutput<typeof EarnedTiersSchema>

interface TierFacts {
  isClaimed: boolean
  isLiveTested: boolean
  trust: TrustVerdict
}

/** spec: Tiers. Live-Tested is not a tier. `not_yet` has the first unmet reason for each tier. */
export function earnTiers(facts: TierFacts): EarnedTiers {
  const unmet: Record<TierId, string | null> = {
    verified: facts.isClaimed ? null : TIER_REASONS.unclaimed,
    trusted: findUnmetForTrusted(facts),
  }
  const tiers = TIERS.filter((id) => unmet[id] === null)
  const tier = tiers.at(-1) ?? null
  const liveTested: EarnedId[] = facts.isLiveTested ? ['live_tested'] : []
  return {
    tier,
    tier_label: tier === null ? null : TIER_LABELS[tier],
    highest_earned: tier,
    earned: [...liveTested, ...tiers],
    paid: [],
    not_yet: TIERS.flatMap((id) => (unmet[id] === null ? [] : [{ id, reason: unmet[id] }])),
  }
}

function findUnmetForTrusted({ isLiveTested, trust }: TierFacts): string | null {
  if (!isLiveTested) return TIER_REASONS.notLiveTested
  if (trust.evidence !== 'verified_non_wash_payments' || !trust.isVouched)
    return TIER_REASONS.noSales
  return trust.sample === 'low' ? TIER_REASONS.tooFewSales : null
}

type BadgeFacts = Omit<TierFacts, 'isClaimed'> & {
  status: Status
  delivered?: Delivered | undefined
}

/** spec: `badges`; `domain_verified` and `live_tested` are earned later. */
export function earnBadges({ status, trust, isLiveTested, delivered }: BadgeFacts): BadgeId[] {
  const badges: BadgeId[] = [status === 'claimed' ? 'domain_verified' : 'unclaimed']
  if (trust.evidence === 'verified_non_wash_payments' && trust.isVouched)
    badges.push('paid_usage_verified')
  if (isLiveTested) badges.push('live_tested')
  if (earnsDelivers(delivered)) badges.push('delivers')
  return badges
}

/** What each badge means, and how to earn it: the texts of `/badges`. */
export const BADGE_TEXTS: Record<BadgeId, { label: string; earned: string }> = {
  unclaimed: {
    label: 'Unclaimed',
    earned:
      'Where every listing starts: its facts come from public metadata, and nobody has proved that they own it.',
  },
  domain_verified: {
    label: 'Claimed',
    earned:
      'A seller has proven control of the domain this listing is on, and the proof still holds.',
  },
  paid_usage_verified: {
    label: 'Paid usage verified',
    earned:
      'In the last 30 days this seller was paid on-chain by buyers who also paid sellers we know to be independent. Payments that look like wash trades are not counted. If we measure too few of those sellers, or only another provider counted the payments, nobody earns this badge.',
  },
  live_tested: {
    label: 'Live-Tested',
    earned:
      'In the last three probes, over at least 24 hours, the service spoke the protocol that the listing advertises. If a listing has several operations, the one that buyers most likely want decides; the others show their own results.',
  },
  delivers: {
    label: 'Delivers',
    earned: `In 30 days, at least ${DELIVERS.calls} paid calls by ${DELIVERS.buyers} vouched-for buyers went through the relay, and at least ${DELIVERS.share * 100} % of these calls got the answer that the seller declared.`,
  },
}

export const LIVE_TESTED = { probes: 3, spanHours: 24 } as const

/** Whether the last three probes, over 24 hours, all succeeded; `unknown` was our failure and is ignored. */
export function isLiveTested(probes: readonly Probe[]): boolean {
  const last = probes
    .filter(({ outcome }) => outcome !== 'unknown')
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, LIVE_TESTED.probes)
  const [newest, oldest] = [last[0], last[LIVE_TESTED.probes - 1]]
  if (newest === undefined || oldest === undefined) return false
  const spanMs = Date.parse(newest.at) - Date.parse(oldest.at)
  return (
    last.every(({ outcome }) => outcome === 'spoke') && spanMs >= LIVE_TESTED.spanHours * HOUR_MS
  )
}

/** Tasks that a listing does as a whole, or by one of its operations or tools. */
export function tasksOf({ facts, surface }: Pick<DerivedListing, 'facts' | 'surface'>): string[] {
  const done = [...surface.operations, ...surface.tools].flatMap(({ task }) => task ?? [])
  return [...new Set([...(facts.tasks ?? []), ...done])]
}

/** An operation that the relay can call and that declares good answers, for judging receipts. */
export type DeclaredRow = ReturnType<typeof toDeclaredRows>[number]

/** @returns each operation with the digest of what its caller relies on, the same as in a lock */
export function toDeclaredRows({ id, facts, surface, payees, buy }: DerivedListing) {
  if (buy.buy !== 'relay_x402') return []
  return surface.operations.flatMap(({ method, url, response }) => {
    if (response === undefined) return []
    const { ref: _, ...declared } = response
    const whole = { ...facts, ...surface, payees }
    const digest = toDigest(toFactsOfCall(whole, toOperationKey({ method, url })))
    return [{ listing_id: id, digest, method, url, response: declared }]
  })
}

export interface PayoutState {
  /** Every payment to these addresses is the listing's, whichever provider reports it. */
  owned: readonly string[]
  /** Contested addresses: payments to them are counted for no listing until the payout is proved. */
  contested: readonly string[]
  /** The largest number of listings that share one of the listing's payouts, at least 1. */
  sharers: number
}

export const NO_PAYOUTS: PayoutState = { owned: [], contested: [], sharers: 1 }

type Status = (typeof STATUSES)[number]

type BadgeId = (typeof BADGES)[number]

type Buy = (typeof BUY)[number]

/** The provider of measured settlements; signals without a `measured` are attributed to it. */
const MEASURED_PROVIDER = 'x402-list'
