import * as v from 'valibot'
import { callableEntries, toCallableView } from '../derived/callable-view.ts'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { attributionOf, type SourceRow } from '../derived/source-table.ts'
import { PricingSchema } from '../listing/pricing.ts'
import { type ClaimRules, toClaimWays } from '../owners/claim-rules.ts'
import { DeliveredSchema } from '../receipts/delivered.ts'
import { PastFactsSchema } from '../trust/age.ts'
import type { Signals } from '../trust/evidence.ts'
import { ReportedUseSchema } from '../trust/evidence.ts'
import { present } from '../wire/json.ts'
import { goPath, kitPath, markPath, pagePath } from '../wire/links.ts'
import { SELLER_TEXTS, SellerTextsSchema } from '../wire/shapes.ts'
import { BADGES, BUY, CLAIM_METHODS, KINDS, STATUSES } from '../wire/vocabulary.ts'
import { KnownSchema, toKnown } from './known-view.ts'
import {
  DiscoverySchema,
  InvokeSchema,
  sourceIdsOf,
  TiersSchema,
  toInvokeView,
  toTiersView,
} from './summary-view.ts'
import { TrustSchema, toTrustView } from './trust-view.ts'

/** spec: Full listing; `invoke`, `buy` and what a caller needs are added. */
export const ListingViewSchema = v.object({
  id: v.string(),
  name: v.string(),
  summary: v.string(),
  kind: v.picklist(KINDS),
  url: v.string(),
  categories: v.array(v.string()),
  tags: v.array(v.string()),
  sources: v.array(
    v.object({
      source: v.string(),
      ref: v.string(),
      /** The facts taken verbatim from it; all others are people's. Absent where there are none. */
      says: v.optional(v.array(v.string())),
      /** When its tools or skills were read. */
      at: v.optional(v.string()),
    }),
  ),
  pricing: PricingSchema,
  status: v.picklist(STATUSES),
  first_party: v.boolean(),
  /** Path of the brand's mark, an SVG of one colour; absent where we know none. */
  mark: v.optional(v.string()),
  discovery: v.optional(DiscoverySchema),
  trust: TrustSchema,
  /** Prefixed wire names follow the measured provider's id; `{}` without any measurement. */
  signals: v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])),
  /** Figures that others published, with source and day; never in the score. */
  reported_use: v.optional(v.array(ReportedUseSchema)),
  /** Who owns it, whether it answers, and whether anybody paid. */
  known: KnownSchema,
  origin: v.string(),
  attribution: v.array(v.string()),
  badges: v.array(v.picklist(BADGES)),
  /** Deliveries for payments that count, in 30 days; absent where unknown. Never in the score. */
  delivered: v.optional(DeliveredSchema),
  tiers: TiersSchema,
  invoke: v.array(InvokeSchema),
  ...callableEntries,
  /** Facts past their limit of age, with their day; absent where there are none. */
  past: v.optional(PastFactsSchema),
  buy: v.picklist(BUY),
  page: v.string(),
  kit_manifest: v.string(),
  go: v.string(),
  claim: v.object({
    how: v.string(),
    /** Methods of `POST /api/v1/sellers/claim` for this listing; empty if it cannot be claimed. */
    methods: v.array(v.picklist(CLAIM_METHODS)),
    opt_out: v.string(),
  }),
  texts: SellerTextsSchema,
})
export type ListingView = v.InferOutput<typeof ListingViewSchema>

export interface ListingViewContext {
  baseUrl: string
  sources: ReadonlyMap<string, SourceRow>
  claimRules: ClaimRules
  /** What listings have of their sources, by id. */
  stated?: ReadonlyMap<string, readonly Stated[]>
}

/** One catalogue's part of a listing. */
export interface Stated {
  source: string
  /** Facts of the listing taken verbatim from it, and when they were read. */
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

function toTrustSource(trust: DerivedListing['trust'], sources: ListingViewContext['sources']) {
  return trust.evidence === 'no_payment_data' ? '' : attributionOf(sources, trust.measured.source)
}

function toClaim(url: string, rules: ClaimRules, baseUrl: string): ListingView['claim'] {
  return {
    ...toClaimWays(url, rules, baseUrl),
    opt_out: `Claim the listing and choose "Remove this listing" on your dashboard at ${baseUrl}/sellers; it leaves the directory at the next build and importers do not bring it back.`,
  }
}

/** Signals whose wire name has the provider's id: they are its judgement, not a measurement. */
const PREFIXED = new Set(['status', 'verified', 'as_of'])

/** spec: `signals`. @example { status: 'online' } of x402-list → { x402_list_status: 'online' } */
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

/** What a listing has from a catalogue. */
function toSourceWords(words: readonly Stated[] = [], source: string) {
  const part = words.find((each) => each.source === source && each.says !== undefined)
  if (part === undefined) return {}
  const { says = [], at } = part
  return { says: [...says], ...(at !== undefined && { at }) }
}
