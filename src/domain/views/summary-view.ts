import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { EarnedTiersSchema } from '../derived/derived-listing.ts'
import type { InvokeEntry } from '../listing/invoke.ts'
import { PricingSchema } from '../listing/pricing.ts'
import { OWN_EVIDENCE } from '../trust/evidence.ts'
import { badgePath, callPath, kitPath, listingPath, pagePath } from '../wire/links.ts'
import {
  BADGES,
  BUY,
  KINDS,
  PACKAGE_REGISTRIES,
  PACKAGE_TRANSPORTS,
  REMOTE_TRANSPORTS,
  STATUSES,
} from '../wire/vocabulary.ts'
import { TrustSummarySchema, toTrustSummary } from './trust-view.ts'

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

/** A named part of an address that its caller fills in. */
const VariableViewSchema = v.object({
  name: v.string(),
  description: v.optional(v.string()),
  required: v.boolean(),
  secret: v.boolean(),
  default: v.optional(v.string()),
  choices: v.optional(v.array(v.string())),
})

/** spec: Invoke entry, on the wire. kit.json has environment, arguments and headers. */
export const InvokeSchema = v.variant('kind', [
  v.object({
    kind: v.literal('mcp'),
    transport: v.picklist(REMOTE_TRANSPORTS),
    /** With `{name}` for each of `variables`. */
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

export const DiscoverySchema = v.object({
  openapi: v.optional(v.string()),
  llms_txt: v.optional(v.string()),
  x402_manifest: v.optional(v.string()),
  ard: v.optional(v.string()),
  agent_card: v.optional(v.string()),
  mcp_card: v.optional(v.string()),
})

const linksEntries = {
  listing: v.string(),
  page: v.string(),
  badge_svg: v.string(),
  kit_manifest: v.string(),
  /** Present only when `buy` is `relay_x402`. */
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

/** A summary before it enters an answer: no `relevance`, no `links.go`, which name the search. */
export const PreparedSummarySchema = v.object({ ...summaryEntries, links: v.object(linksEntries) })

/** spec: Listing summary, the element of `results`. */
export const ListingSummarySchema = v.object({
  ...summaryEntries,
  links: v.object({ ...linksEntries, go: v.string() }),
  relevance: v.number(),
})

/** @param baseUrl `{base_url}`, for the absolute URLs of `tiers`. */
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

/** The measured provider is a source where its evidence is used. */
export function sourceIdsOf({ facts, trust }: DerivedListing): string[] {
  const ids = facts.sources.map((source) => source.source)
  if (trust.evidence !== 'no_payment_data' && trust.measured.source !== OWN_EVIDENCE)
    ids.push(trust.measured.source)
  return [...new Set(ids)]
}
