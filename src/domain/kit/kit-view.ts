import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { type Pricing, PricingSchema } from '../listing/pricing.ts'
import { InvokeSchema, toInvokeView } from '../views/invoke-view.ts'
import { DiscoverySchema } from '../views/summary-view.ts'
import { TrustSchema, type TrustView } from '../views/trust-view.ts'
import { badgePath, callPath, pagePath } from '../wire/links.ts'
import { HTTP_METHODS, KINDS } from '../wire/vocabulary.ts'
import { toAgentSnippets } from './kit-agent-snippets.ts'
import { type HttpTarget, type PaymentTerms, toHttpSnippets } from './kit-http-snippets.ts'
import { toMcpSnippets } from './kit-mcp-snippets.ts'
import { KitPaymentSchema, toKitPayment } from './kit-payment.ts'

/** Version label of the manifest (spec: Versioning). */
export const KIT_VERSION = 'v0.1'

const HttpInvokeSchema = v.object({
  kind: v.literal('http'),
  method: v.picklist(HTTP_METHODS),
  url: v.string(),
  /** The same endpoint through the relay; absent where the relay does not take the listing. */
  relay_url: v.optional(v.string()),
  description: v.optional(v.string()),
})

/** kit.json v0.1: everything an agent needs to call a listing, and to pay for it. */
export const KitViewSchema = v.object({
  kit_version: v.literal(KIT_VERSION),
  id: v.string(),
  name: v.string(),
  kind: v.picklist(KINDS),
  summary: v.string(),
  url: v.string(),
  invoke: v.array(v.union([InvokeSchema, HttpInvokeSchema])),
  pricing: PricingSchema,
  payment: KitPaymentSchema,
  discovery: DiscoverySchema,
  /** Ready to paste: code by language for HTTP, configuration by client for MCP. */
  snippets: v.record(v.string(), v.string()),
  trust: TrustSchema,
  page: v.string(),
  badge_svg: v.string(),
})
export type KitView = v.InferOutput<typeof KitViewSchema>

export interface KitContext {
  baseUrl: string
  /** As in the full listing. */
  trust: TrustView
}

export function toKitView(listing: DerivedListing, { baseUrl, trust }: KitContext): KitView {
  const { id, facts } = listing
  const relayUrl = listing.buy.buy === 'relay_x402' ? `${baseUrl}${callPath(id)}` : null
  const targets = toHttpTargets(listing, relayUrl)
  return {
    kit_version: KIT_VERSION,
    id,
    name: facts.name,
    kind: facts.kind,
    summary: facts.summary,
    url: facts.url,
    invoke: [
      ...toInvokeView(facts.invoke),
      ...targets.map(({ relayUrl: relay_url, ...target }) => ({
        kind: 'http' as const,
        ...target,
        ...(relay_url !== null && { relay_url }),
      })),
    ],
    pricing: facts.pricing,
    payment: toKitPayment(facts.pricing, relayUrl),
    discovery: facts.discovery,
    snippets: toSnippets(listing, targets),
    trust,
    page: `${baseUrl}${pagePath(id)}`,
    badge_svg: `${baseUrl}${badgePath(id)}`,
  }
}

function toSnippets({ id, facts }: DerivedListing, targets: HttpTarget[]): Record<string, string> {
  const [target] = targets
  switch (facts.kind) {
    case 'http_api':
      return target === undefined ? {} : toHttpSnippets(target, toTerms(facts.pricing))
    case 'mcp_server':
      return toMcpSnippets(id, facts.invoke)
    case 'a2a_agent':
      return toAgentSnippets(facts.url, facts.discovery.agent_card)
    case 'kit':
      return facts.invoke.length > 0 ? toMcpSnippets(id, facts.invoke) : {}
  }
}

function toTerms(pricing: Pricing): PaymentTerms {
  return pricing.model === 'per_call' ? pricing : { rails: [], networks: [] }
}

/** The documented endpoints, or the listing's own URL where none is documented. */
function toHttpTargets({ facts }: DerivedListing, relayUrl: string | null): HttpTarget[] {
  if (facts.kind !== 'http_api') return []
  const documented =
    facts.http.length > 0 ? facts.http : [{ method: 'GET' as const, url: facts.url }]
  return documented.map(({ method, url, description }) => ({
    method,
    url,
    ...(description !== undefined && { description }),
    relayUrl: relayUrl === null ? null : toRelayUrl(relayUrl, facts.url, url),
  }))
}

/** The relay's address for one endpoint; null for one on another origin, which it does not take. */
function toRelayUrl(relayUrl: string, listingUrl: string, endpointUrl: string): string | null {
  const endpoint = new URL(endpointUrl)
  if (endpoint.origin !== new URL(listingUrl).origin) return null
  if (endpoint.href === new URL(listingUrl).href) return relayUrl
  return `${relayUrl}?endpoint=${encodeURIComponent(endpoint.pathname + endpoint.search)}`
}
