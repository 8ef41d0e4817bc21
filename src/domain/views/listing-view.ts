import * as v from 'valibot'
import { type DerivedListing, EarnedTiersSchema, tasksOf } from '../derived/derived-listing.ts'
import { attributionOf, type SourceRow } from '../derived/tables.ts'
import type { InvokeEntry } from '../listing/invoke.ts'
import { OfferSchema, OperationPriceSchema } from '../listing/listing-facts.ts'
import { costOf, lowestPriceOf, PricingSchema, toCountText, toUsd } from '../listing/pricing.ts'
import { DeliveredSchema } from '../relay/delivered.ts'
import { type ClaimRules, toClaimWays } from '../sellers/claim-rules.ts'
import { PastFactsSchema } from '../trust/age.ts'
import {
  DriftSchema,
  NoticeSchema,
  OWN_EVIDENCE,
  PackageRunSchema,
  ReportedUseSchema,
  type Signals,
} from '../trust/evidence.ts'
import { present } from '../wire/json.ts'
import {
  badgePath,
  callPath,
  goPath,
  kitPath,
  listingPath,
  markPath,
  pagePath,
} from '../wire/links.ts'
import { SELLER_TEXTS, SellerTextsSchema } from '../wire/shapes.ts'
import { cutLine } from '../wire/text.ts'
import {
  ASSUMABLE,
  AUTH_TYPES,
  BADGES,
  BUY,
  CLAIM_METHODS,
  COSTS,
  DISCOVERY_FILES,
  EFFECTS,
  HTTP_METHODS,
  KINDS,
  PACKAGE_REGISTRIES,
  PACKAGE_TRANSPORTS,
  PROBE_OUTCOMES,
  REMOTE_TRANSPORTS,
  STATUSES,
} from '../wire/vocabulary.ts'
import {
  KnownSchema,
  type Sources,
  toKnown,
  toPaidWords,
  toSeenPricing,
  toWarning,
} from './known-view.ts'
import { TrustSchema, TrustSummarySchema, toTrustSummary, toTrustView } from './trust-view.ts'

const words = v.optional(v.array(v.string()))

const SignInViewSchema = v.object({
  resource: v.optional(v.string()),
  authorization_server: v.string(),
  authorization_endpoint: v.optional(v.string()),
  token_endpoint: v.optional(v.string()),
  device_authorization_endpoint: v.optional(v.string()),
  registration_endpoint: v.optional(v.string()),
  client_id_metadata_document_supported: v.optional(v.boolean()),
  grant_types_supported: words,
  code_challenge_methods_supported: words,
  scopes_supported: words,
  ref: v.optional(v.string()),
})

export const AuthViewSchema = v.object({
  type: v.picklist(AUTH_TYPES),
  in: v.optional(v.picklist(['header', 'query'])),
  name: v.optional(v.string()),
  docs: v.optional(v.string()),
  note: v.optional(v.string()),
  /** Where to sign in, from RFC 9728 and RFC 8414; absent if we did not read it. */
  sign_in: v.optional(SignInViewSchema),
})

export const SeenCallSchema = v.object({
  at: v.string(),
  outcome: v.picklist(PROBE_OUTCOMES),
  status: v.optional(v.number()),
  /** Price and payees in the operation's last 402 response. */
  min_usd: v.optional(v.number()),
  max_usd: v.optional(v.number()),
  pay_to: v.optional(v.array(v.string())),
})

/** One operation, without the schemas, which are in kit.json. */
export const operationLine = {
  method: v.picklist(HTTP_METHODS),
  /** The address, which may have `{placeholders}` in its path. */
  url: v.string(),
  description: v.optional(v.string()),
  price: v.optional(OperationPriceSchema),
  offers: v.optional(v.array(OfferSchema)),
  task: v.optional(v.string()),
  /** What a call changes; absent if no declaration, hint or method shows it. */
  effect: v.optional(v.picklist(EFFECTS)),
  assumed: v.optional(v.array(v.picklist(ASSUMABLE))),
  seen: v.optional(SeenCallSchema),
}

export const OperationLineSchema = v.object(operationLine)

const text = v.string()
const ToolLineSchema = v.object({
  ...{ name: text, title: v.optional(text), description: text },
  effect: v.optional(v.picklist(EFFECTS)),
})
const SkillLineSchema = v.object({ id: text, name: text, description: text })

const MAX_LINE_LENGTH = 200

/** @example inOneLine({ description: 'First.\n\nSecond.' }) → { description: 'First.' } */
function inOneLine<Described extends { description: string }>(described: Described): Described {
  return { ...described, description: cutLine(described.description, MAX_LINE_LENGTH) }
}

/** spec: Tiers on the wire; the URLs are absolute. */
export const TiersSchema = v.object({
  ...EarnedTiersSchema.entries,
  badge_svg: v.string(),
  page: v.string(),
  embed_markdown: v.string(),
  tiers_doc: v.string(),
})
export type TiersView = v.InferOutput<typeof TiersSchema>

type TiersSubject = Pick<DerivedListing, 'id' | 'directory' | 'tiers'> & {
  facts: { name: string }
}

export function toTiersView(listing: TiersSubject, baseUrl: string): TiersView {
  const { id, directory, facts, tiers } = listing
  const badge_svg = `${baseUrl}${badgePath(id)}`
  const page = `${baseUrl}${pagePath(id)}`
  // `](javascript:alert(1))` must not close the image text, nor `&lpar;` become a bracket.
  const name = `${facts.name} on ${directory}`.replace(/[\\`*_{}[\]()<>#+!|~&]/g, '\\$&')
  return {
    ...tiers,
    badge_svg,
    page,
    embed_markdown: `[![${name}](${badge_svg})](${page})`,
    tiers_doc: `${baseUrl}/badges`,
  }
}

/** A named part of an address that the caller fills in. */
export const VariableViewSchema = v.object({
  name: v.string(),
  description: v.optional(v.string()),
  required: v.boolean(),
  secret: v.boolean(),
  default: v.optional(v.string()),
  choices: v.optional(v.array(v.string())),
})

/** spec: Invoke entry, on the wire. Environment, arguments and headers are in kit.json. */
export const InvokeSchema = v.variant('kind', [
  v.object({
    kind: v.literal('mcp'),
    transport: v.picklist(REMOTE_TRANSPORTS),
    /** The address, with `{name}` for each of `variables`. */
    url: v.string(),
    variables: v.optional(v.array(VariableViewSchema)),
  }),
  v.object({
    kind: v.literal('mcp_package'),
    transport: v.picklist(PACKAGE_TRANSPORTS),
    registry: v.picklist(PACKAGE_REGISTRIES),
    identifier: v.string(),
  }),
])

export function toInvokeView(invoke: readonly InvokeEntry[]): v.InferOutput<typeof InvokeSchema>[] {
  return invoke.map((entry) => v.parse(InvokeSchema, entry))
}

export const DiscoverySchema = v.object(v.entriesFromList(DISCOVERY_FILES, v.optional(v.string())))

const linksEntries = {
  listing: v.string(),
  page: v.string(),
  badge_svg: v.string(),
  kit_manifest: v.string(),
  /** Present only if `buy` is `relay_x402`. */
  call: v.optional(v.string()),
}

const summaryEntries = {
  id: v.string(),
  name: v.string(),
  kind: v.picklist(KINDS),
  status: v.picklist(STATUSES),
  summary: v.string(),
  url: v.string(),
  categories: v.array(v.string()),
  pricing: PricingSchema,
  trust: TrustSummarySchema,
  invoke: v.array(InvokeSchema),
  discovery: v.optional(DiscoverySchema),
  sources: v.array(v.string()),
  badges: v.array(v.picklist(BADGES)),
  tiers: TiersSchema,
  buy: v.picklist(BUY),
}

/** A summary before it is put into an answer: it lacks `relevance` and `links.go`, which depend on the search. */
export const PreparedSummarySchema = v.object({ ...summaryEntries, links: v.object(linksEntries) })

/** spec: Listing summary, an element of `results`. */
export const ListingSummarySchema = v.object({
  ...summaryEntries,
  links: v.object({ ...linksEntries, go: v.string() }),
  relevance: v.number(),
})

/** @param baseUrl `{base_url}`, for the absolute URLs in `tiers` */
export function toPreparedSummary(listing: DerivedListing, baseUrl: string) {
  const { id, facts } = listing
  const hasDiscovery = Object.keys(facts.discovery).length > 0
  return {
    id,
    name: facts.name,
    kind: facts.kind,
    summary: facts.summary,
    status: listing.status,
    url: facts.url,
    categories: facts.categories,
    pricing: facts.pricing,
    trust: toTrustSummary(listing.trust),
    invoke: toInvokeView(facts.invoke),
    ...(hasDiscovery && { discovery: facts.discovery }),
    sources: sourceIdsOf(listing),
    badges: listing.badges,
    tiers: toTiersView(listing, baseUrl),
    buy: listing.buy.buy,
    links: {
      listing: listingPath(id),
      page: pagePath(id),
      badge_svg: badgePath(id),
      kit_manifest: kitPath(id),
      ...(listing.buy.buy === 'relay_x402' && { call: callPath(id) }),
    },
  }
}

/** The listing's sources, and the provider of measurements if its evidence is used. */
export function sourceIdsOf({ facts, trust }: DerivedListing): string[] {
  const ids = facts.sources.map((source) => source.source)
  if (trust.evidence !== 'no_payment_data' && trust.measured.source !== OWN_EVIDENCE)
    ids.push(trust.measured.source)
  return [...new Set(ids)]
}

/** spec: Full listing, plus `invoke`, `buy` and what a caller needs. */
export const ListingViewSchema = v.object({
  id: v.string(),
  name: v.string(),
  summary: v.string(),
  kind: v.picklist(KINDS),
  url: v.string(),
  categories: v.array(v.string()),
  tags: v.array(v.string()),
  /** Ids of the tasks that it does as a whole, or by one of its operations or tools. */
  tasks: v.array(v.string()),
  sources: v.array(
    v.object({
      source: v.string(),
      ref: v.string(),
      /** The facts taken verbatim from this source; people wrote all others. Absent if there are none. */
      says: v.optional(v.array(v.string())),
      /** When the listing's tools or skills were read. */
      at: v.optional(v.string()),
    }),
  ),
  pricing: PricingSchema,
  status: v.picklist(STATUSES),
  first_party: v.boolean(),
  /** Path to the brand's mark, a single-colour SVG; absent if we know none. */
  mark: v.optional(v.string()),
  discovery: v.optional(DiscoverySchema),
  trust: TrustSchema,
  /** A provider's own judgements have names that start with the provider's id; `{}` if nothing was measured. */
  signals: v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])),
  /** Figures that others published, with source and day; never in the score. */
  reported_use: v.optional(v.array(ReportedUseSchema)),
  /** Who owns the listing, whether it answers, and whether anybody paid. */
  known: KnownSchema,
  origin: v.string(),
  attribution: v.array(v.string()),
  badges: v.array(v.picklist(BADGES)),
  /** Deliveries for accepted payments, in 30 days; absent if unknown. They are never in the score. */
  delivered: v.optional(DeliveredSchema),
  tiers: TiersSchema,
  invoke: v.array(InvokeSchema),
  /** Digest of what a caller relies on; it changes if and only if one of these facts changes. */
  digest: v.string(),
  cost: v.picklist(COSTS),
  auth: AuthViewSchema,
  operations: v.array(OperationLineSchema),
  tools: v.array(ToolLineSchema),
  skills: v.array(SkillLineSchema),
  notices: v.array(NoticeSchema),
  /** Tools, prices and payees before and after a change, newest first; absent if none changed. */
  drift: v.optional(v.array(DriftSchema)),
  /** The result of the last run of the package in our sandbox; absent if it was not run. */
  package_run: v.optional(PackageRunSchema),
  registry_name: v.optional(v.string()),
  version: v.optional(v.string()),
  /** Facts that are too old, with their day; absent if there are none. */
  past: v.optional(PastFactsSchema),
  buy: v.picklist(BUY),
  page: v.string(),
  kit_manifest: v.string(),
  go: v.string(),
  claim: v.object({
    how: v.string(),
    /** Methods for `POST /api/v1/sellers/claim` on this listing; empty if it cannot be claimed. */
    methods: v.array(v.picklist(CLAIM_METHODS)),
    opt_out: v.string(),
  }),
  texts: SellerTextsSchema,
})
export type ListingView = v.InferOutput<typeof ListingViewSchema>

interface ListingViewContext {
  baseUrl: string
  sources: ReadonlyMap<string, SourceRow>
  claimRules: ClaimRules
  /** The facts that listings have from each source, by listing id. */
  stated?: ReadonlyMap<string, readonly Stated[]>
}

/** A listing's facts from one catalogue. */
export interface Stated {
  source: string
  /** Names of facts taken verbatim from the catalogue, and when they were read. */
  says?: readonly string[] | undefined
  at?: string | undefined
}

export function toListingView(
  listing: DerivedListing,
  { baseUrl, sources, claimRules, stated = new Map() }: ListingViewContext,
): ListingView {
  const { id, facts, trust } = listing
  return {
    id,
    name: facts.name,
    summary: facts.summary,
    kind: facts.kind,
    url: facts.url,
    categories: facts.categories,
    tags: facts.tags,
    tasks: tasksOf(listing),
    sources: facts.sources.map((row) => ({ ...row, ...toSourceWords(stated.get(id), row.source) })),
    pricing: facts.pricing,
    status: listing.status,
    first_party: facts.first_party,
    ...(listing.mark !== null && { mark: markPath(listing.mark) }),
    ...(Object.keys(facts.discovery).length > 0 && { discovery: facts.discovery }),
    trust: toTrustView(trust, toTrustSource(trust, sources)),
    signals: toSignalsView(listing.signals, listing.signalsSource),
    known: toKnown(listing, sources),
    origin: new URL(facts.url).origin,
    attribution: [...new Set(sourceIdsOf(listing).map((source) => attributionOf(sources, source)))],
    badges: listing.badges,
    tiers: toTiersView(listing, baseUrl),
    invoke: toInvokeView(facts.invoke),
    get digest() {
      return listing.digest
    },
    ...toCallableView(listing),
    ...present({ delivered: listing.delivered, past: listing.past }),
    ...present({ reported_use: listing.evidence.reported_use }),
    buy: listing.buy.buy,
    page: pagePath(id),
    kit_manifest: kitPath(id),
    go: goPath(id, 'api'),
    claim: toClaim(facts.url, claimRules, baseUrl),
    texts: SELLER_TEXTS,
  }
}

/** The members that show how to call the service. */
function toCallableView({ facts, surface, notices, evidence }: DerivedListing) {
  const { registry_name, version } = facts
  return {
    cost: costOf(facts),
    auth: facts.auth,
    operations: surface.operations.map((operation) => v.parse(OperationLineSchema, operation)),
    tools: surface.tools.map((tool) => v.parse(ToolLineSchema, inOneLine(tool))),
    skills: surface.skills.map((skill) => v.parse(SkillLineSchema, inOneLine(skill))),
    notices,
    ...present({
      drift: evidence.drift,
      package_run: evidence.package_run,
      registry_name,
      version,
    }),
  }
}

function toTrustSource(trust: DerivedListing['trust'], sources: ListingViewContext['sources']) {
  return trust.evidence === 'no_payment_data' ? '' : attributionOf(sources, trust.measured.source)
}

function toClaim(url: string, rules: ClaimRules, baseUrl: string): ListingView['claim'] {
  return {
    ...toClaimWays(url, rules, baseUrl),
    opt_out: `Claim the listing and choose "Remove this listing" on your dashboard at ${baseUrl}/sellers; it leaves the directory at the next build and importers do not bring it back.`,
  }
}

/** Signals whose wire name starts with the provider's id: these are the provider's judgement, not a measurement. */
const PREFIXED = new Set(['status', 'verified', 'as_of'])

/** spec: `signals`. @example { status: 'online' } from x402-list → { x402_list_status: 'online' } */
export function toSignalsView(
  signals: Signals,
  source: string,
): Record<string, string | number | boolean> {
  const prefix = source.replaceAll('-', '_')
  const entries = Object.entries(signals).flatMap(([key, value]) =>
    value === undefined ? [] : [[PREFIXED.has(key) ? `${prefix}_${key}` : key, value] as const],
  )
  return Object.fromEntries(entries)
}

/** A source's facts about the listing. */
function toSourceWords(words: readonly Stated[] = [], source: string) {
  const part = words.find((each) => each.source === source && each.says !== undefined)
  if (part === undefined) return {}
  const { says = [], at } = part
  return { says: [...says], ...(at !== undefined && { at }) }
}

/** The members of a listing's view that pages print in lists; `trust` has only the members of a summary. */
export type ListingBrief = Omit<ReturnType<typeof toListingBrief>, 'mark'> &
  Pick<ListingView, 'mark'>

export function toListingBrief(listing: DerivedListing, sources: Sources) {
  const { id, facts, trust, mark, badges } = listing
  const paid = toPaidWords(listing, sources)
  const warning = toWarning(listing)
  const { name, summary, kind, categories, tags, first_party } = facts
  return {
    ...{ id, name, summary, kind, categories, tags, first_party, badges },
    tasks: tasksOf(listing),
    pricing: toSeenPricing(listing),
    cost: costOf(facts),
    invoke: toInvokeView(facts.invoke),
    ...(mark !== null && { mark: markPath(mark) }),
    page: pagePath(id),
    trust: toTrustSummary(trust),
    auth: { type: facts.auth.type },
    // Who was seen to pay, in a few words; absent if nothing is known.
    ...(paid !== null && { paid }),
    ...present({ warning }),
  }
}

/** The text on a listing's embeddable badge; `tone` names a colour by its meaning. */
export interface BadgeView {
  label: string
  message: string
  tone: BadgeTone
}

/** Backgrounds for white 11 px letters, with a contrast of at least 4.5:1. */
export const BADGE_COLORS = {
  /** Something the listing earned. */
  accent: '1d6b49',
  /** The highest tier. */
  strong: '14492f',
  /** A plain fact, or something earned from few buyers. */
  neutral: '4f6257',
  money: '2457a6',
  /** Something expected that is missing. */
  missing: '7a5210',
} as const
type BadgeTone = keyof typeof BADGE_COLORS

type BadgeSubject = Pick<ListingView, 'tiers' | 'trust' | 'first_party' | 'pricing'>

/**
 * A listing's highest achievement in a few words; a score is only shown next to its buyers. Without
 * an achievement, the badge shows the price or else "listed": missing evidence is not a fault.
 * @example toBadgeView(listing, 'Acme') → { label: 'Acme', message: 'Trusted · trust 62, 12 vouched
 *   buyers', tone: 'strong' }
 */
export function toBadgeView(subject: BadgeSubject, label: string): BadgeView {
  return { label, ...toState(subject) }
}

function toState({ tiers, trust, first_party, pricing }: BadgeSubject): Omit<BadgeView, 'label'> {
  const label = tiers.tier_label ?? (tiers.earned.includes('live_tested') ? 'Live-Tested' : null)
  const stated = trust.score === null ? null : toTrustWords(trust)
  if (label !== null || stated !== null) {
    const isWeak = label === null && stated?.isWeak === true
    const tone = tiers.tier === 'trusted' ? 'strong' : isWeak ? 'neutral' : 'accent'
    return { message: [label, stated?.text].filter((part) => part != null).join(' · '), tone }
  }
  if (first_party) return { message: 'first-party kit', tone: 'neutral' }
  if (trust.evidence !== 'no_payment_data')
    return { message: 'no independent buyers yet', tone: 'missing' }
  const price = lowestPriceOf(pricing)
  if (price === null) return { message: 'listed', tone: 'neutral' }
  return { message: price === 0 ? 'free' : `from ${toUsd(price)}`, tone: 'money' }
}

type Scored = Extract<BadgeSubject['trust'], { evidence: 'verified_non_wash_payments' }>

function toTrustWords({ score, sample, verified_buyers_30d, unknown_buyers_30d }: Scored) {
  const isVouched = unknown_buyers_30d !== undefined
  const who = toCountText(verified_buyers_30d, isVouched ? 'vouched buyer' : 'unvouched buyer')
  return { text: `trust ${score}, ${who}`, isWeak: sample === 'low' || !isVouched }
}

/** The badge as data, in the endpoint schema that badge services such as Shields read. */
export function toBadgeEndpoint({ label, message, tone }: BadgeView) {
  return { schemaVersion: 1, label, message, color: BADGE_COLORS[tone] } as const
}
