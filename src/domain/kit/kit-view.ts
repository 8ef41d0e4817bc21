import * as v from 'valibot'
import { AuthViewSchema } from '../derived/callable-view.ts'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { costOf, type Pricing, PricingSchema } from '../listing/pricing.ts'
import { ShownToolSchema, SkillSchema } from '../listing/tools-and-skills.ts'
import { DeliveredSchema } from '../receipts/delivered.ts'
import { DiscoverySchema } from '../views/summary-view.ts'
import { TrustSchema, type TrustView } from '../views/trust-view.ts'
import { badgePath, callPath, pagePath } from '../wire/links.ts'
import { present } from '../wire/parse-json.ts'
import { SELLER_TEXTS, SellerTextsSchema } from '../wire/seller-texts.ts'
import { COSTS, HTTP_METHODS, KINDS, type Rail } from '../wire/vocabulary.ts'
import { chooseOperation } from './choose-operation.ts'
import { toAgentSnippets } from './kit-agent-snippets.ts'
import { type PaymentTerms, toHttpSnippets } from './kit-http-snippets.ts'
import { type KitInvoke, KitInvokeSchema, toKitInvoke } from './kit-invoke.ts'
import { toMcpSnippets, toSkillSnippets } from './kit-mcp-snippets.ts'
import { type KitOperation, KitOperationSchema, toKitOperations, toSent } from './kit-operations.ts'
import { KitPaymentSchema, toKitPayment } from './kit-payment.ts'

/** Version label of the manifest (spec: Versioning). */
export const KIT_VERSION = 'v0.1'

const HttpInvokeSchema = v.object({
  kind: v.literal('http'),
  method: v.picklist(HTTP_METHODS),
  /** May have `{placeholders}` in its path; `operations` describes them. */
  url: v.string(),
  /** The same endpoint through the relay; absent where the relay cannot call the listing. */
  relay_url: v.optional(v.string()),
  description: v.optional(v.string()),
})

/** kit.json v0.1: everything an agent needs to call a listing, and to pay for it. */
export const KitViewSchema = v.object({
  kit_version: v.literal(KIT_VERSION),
  id: v.string(),
  /** Digest of what a caller relies on; changes exactly when any of it does. */
  digest: v.string(),
  name: v.string(),
  kind: v.picklist(KINDS),
  summary: v.string(),
  url: v.string(),
  cost: v.picklist(COSTS),
  auth: AuthViewSchema,
  invoke: v.array(v.union([KitInvokeSchema, HttpInvokeSchema])),
  /** HTTP listings: operations, each with a request that can be sent as it is. */
  operations: v.array(KitOperationSchema),
  /** MCP servers: their tools with the schemas of their arguments, where a machine read them. */
  tools: v.array(ShownToolSchema),
  /** A2A agents: skills from their card. */
  skills: v.array(SkillSchema),
  /** A2A agents: where messages go, from the last card read; absent where none was read. */
  agent: v.optional(
    v.object({ url: v.string(), binding: v.string(), protocol: v.optional(v.string()) }),
  ),
  pricing: PricingSchema,
  payment: KitPaymentSchema,
  /** Payees, CAIP-10, as far as known: the seller's 402 decides. */
  payees: v.array(v.string()),
  discovery: DiscoverySchema,
  /**
   * Ready to paste: code by language for HTTP, configuration by client for MCP, a command by agent
   * for skills.
   */
  snippets: v.record(v.string(), v.string()),
  trust: TrustSchema,
  /** Deliveries for payments that count, in 30 days; absent where nothing is known. */
  delivered: v.optional(DeliveredSchema),
  page: v.string(),
  badge_svg: v.string(),
  texts: SellerTextsSchema,
})
export type KitView = v.InferOutput<typeof KitViewSchema>

export interface KitContext {
  baseUrl: string
  /** As in the full listing. */
  trust: TrustView
}

export function toKitView(listing: DerivedListing, { baseUrl, trust }: KitContext): KitView {
  const { id, facts, surface } = listing
  const relayUrl = listing.buy.buy === 'relay_x402' ? `${baseUrl}${callPath(id)}` : null
  const operations = toKitOperations(listing, relayUrl)
  const invoke = toKitInvoke(facts.invoke, facts.auth)
  const called = operations.map(({ method, url, relay_url, description }) => {
    return { kind: 'http' as const, method, url, ...present({ description, relay_url }) }
  })
  const agent = toKitAgent(listing)
  return {
    kit_version: KIT_VERSION,
    id,
    digest: listing.digest,
    name: facts.name,
    kind: facts.kind,
    summary: facts.summary,
    url: facts.url,
    cost: costOf(facts),
    auth: facts.auth,
    invoke: [...invoke, ...called],
    operations,
    tools: surface.tools,
    skills: surface.skills,
    ...(agent !== undefined && { agent }),
    pricing: facts.pricing,
    payment: toKitPayment(facts.pricing, relayUrl, facts.kind === 'mcp_server'),
    payees: listing.payees,
    discovery: facts.discovery,
    snippets: toSnippets(listing, invoke, operations),
    trust,
    ...present({ delivered: listing.delivered }),
    page: `${baseUrl}${pagePath(id)}`,
    badge_svg: `${baseUrl}${badgePath(id)}`,
    texts: SELLER_TEXTS,
  }
}

export function toKitAgent({ facts, evidence }: DerivedListing): KitView['agent'] {
  const { url, binding, protocol } = evidence.interface?.server ?? {}
  if (facts.kind !== 'a2a_agent' || url === undefined || binding === undefined) return undefined
  return { url, binding, ...(protocol !== undefined && { protocol }) }
}

function toSnippets(
  listing: DerivedListing,
  invoke: readonly KitInvoke[],
  operations: readonly KitOperation[],
): Record<string, string> {
  const { id, facts, surface } = listing
  const operation = chooseOperation(operations)
  switch (facts.kind) {
    case 'http_api':
      return operation === undefined ? {} : toOperationSnippets(facts.pricing, operation)
    case 'mcp_server':
      return toMcpSnippets(id, invoke)
    case 'a2a_agent':
      return toAgentSnippets(
        facts.url,
        facts.discovery.agent_card,
        surface.skills,
        toKitAgent(listing),
      )
    case 'kit':
      return toSkillSnippets(facts)
  }
}

/** @param rail the only one to pay on; by default all of the operation's */
export function toOperationSnippets(
  pricing: Pricing,
  operation: KitOperation,
  rail?: Rail,
): Record<string, string> {
  return toHttpSnippets(toSent(operation), toTerms(pricing, operation, rail))
}

/** The operation's own offers, else the listing's offers for all of them. */
function toTerms(pricing: Pricing, { offers = [] }: KitOperation, rail?: Rail): PaymentTerms {
  const onRail = rail === undefined ? offers : offers.filter((offer) => offer.rail === rail)
  const chosen = onRail.length > 0 ? onRail : offers
  if (chosen.length > 0)
    return {
      rails: [...new Set(chosen.map((offer) => offer.rail))],
      networks: [...new Set(chosen.flatMap(({ network }) => network ?? []))],
    }
  return pricing.model === 'per_call' ? pricing : { rails: [], networks: [] }
}
