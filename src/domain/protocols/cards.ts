import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import type { SiteNames } from '../derived/tables.ts'
import { toOutput } from '../kit/found-operations.ts'
import { chooseOperation, type KitOperation } from '../kit/kit-entries.ts'
import { type KitView, toOperationSnippets } from '../kit/kit-view.ts'
import type { ListingFacts } from '../listing/listing-facts.ts'
import { toSlug } from '../listing/listing-text.ts'
import { railsOf } from '../listing/pricing.ts'
import { fitLists } from '../search/fitted-lists.ts'
import type { ListingView } from '../views/listing-view.ts'
import { SellerTextsSchema } from '../wire/shapes.ts'
import { cutText } from '../wire/text.ts'
import { KINDS, RAILS, type Rail } from '../wire/vocabulary.ts'

const PROTOCOLS_VERSION = '0.1.0'

/** A sentence about this directory, for machines that list directories. */
export function toOwnSummary({ strapline, switches: { payments, trust } }: SiteNames): string {
  const known = [
    ...(payments ? ['prices'] : []),
    ...(trust ? ['trust that comes only from payments verified on-chain'] : []),
  ]
  const end = known.length === 0 ? '' : `, with ${known.join(' and ')}`
  return `${strapline}: HTTP APIs, MCP servers and A2A agents${end}.`
}

/** Clients of A2A 1.0 read `supportedInterfaces`, clients of 0.3 the members at the top (A2A 5.4). */
export function toAgentCard(baseUrl: string, site: SiteNames) {
  const url = `${baseUrl}/a2a`
  const { payments } = site.switches
  const rails = payments ? `; rail: ${RAILS.join(', ')}` : ''
  return {
    name: site.name,
    description: toOwnSummary(site),
    version: PROTOCOLS_VERSION,
    url,
    preferredTransport: 'JSONRPC',
    protocolVersion: '0.3.0',
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
      url,
      protocolBinding: 'JSONRPC',
      protocolVersion,
    })),
    provider: { organization: site.name, url: baseUrl },
    documentationUrl: `${baseUrl}/docs`,
    // No stream: a search ends before one would open. No push: we keep no state that it could report.
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['application/json'],
    skills: [
      {
        id: 'search_listings',
        name: 'Find a service',
        description: `Send the task as text, or a data part with q and the filters of ${baseUrl}/docs (kind: ${KINDS.join(', ')}${rails}). The answer is one data part with the best listings.`,
        tags: ['search', 'directory', ...(payments ? RAILS : []), 'mcp', 'a2a'],
        examples: ['an API that needs no account', 'an MCP server for a database'],
        inputModes: ['text/plain', 'application/json'],
        outputModes: ['application/json'],
      },
    ],
  }
}

const CARD_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'
const MOST_DESCRIPTION = 100

/** The revisions that `/mcp` speaks, newest first. */
const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26']

/** `/mcp/server-card`: our own server, described as in the server-card extension. */
export function toOwnServerCard(baseUrl: string, site: SiteNames) {
  return {
    $schema: CARD_SCHEMA,
    name: `${toReverseHost(baseUrl)}/${site.short_name.toLowerCase()}`,
    version: PROTOCOLS_VERSION,
    title: site.name,
    description: site.strapline,
    remotes: [
      { type: 'streamable-http', url: `${baseUrl}/mcp`, supportedProtocolVersions: REVISIONS },
    ],
  }
}

/** The card for a listed server with a remote endpoint; null for a server that is only a package. */
export function toServerCard(view: ListingView, baseUrl: string) {
  const remotes = view.invoke.flatMap((entry) =>
    entry.kind === 'mcp' ? [toCardRemote(entry)] : [],
  )
  if (remotes.length === 0) return null
  return {
    $schema: CARD_SCHEMA,
    name: `${toReverseHost(baseUrl)}/${toSlug(view.id)}`,
    version: '0.0.0',
    title: cutText(view.name, MOST_DESCRIPTION),
    description: cutText(view.summary, MOST_DESCRIPTION),
    remotes,
  }
}

function toCardRemote({ transport: type, url, variables = [] }: CardRemote): object {
  const named = variables.map(({ name, required: isRequired, secret: isSecret, ...more }) => [
    name,
    { isRequired, isSecret, ...more },
  ])
  return { type, url, ...(named.length > 0 && { variables: Object.fromEntries(named) }) }
}
type CardRemote = Extract<ListingView['invoke'][number], { kind: 'mcp' }>

/** Our host, reversed. @example toReverseHost('https://a.example') → 'example.a' */
export function toReverseHost(baseUrl: string): string {
  return new URL(baseUrl).hostname.replace(/[[\]]/g, '').split(/[.:]/).reverse().join('.')
}

/** Members of a full listing that an agent can derive or doesn't need to decide. */
const LEFT_OUT = new Set([
  ...['tiers', 'claim', 'page', 'kit_manifest', 'go', 'badges', 'attribution'],
  // A sentence in `known` states this.
  'reported_use',
])

/** Members that can be long for a large service: get_kit shows each of their rows in full. */
const LISTS = ['operations', 'tools', 'skills', 'invoke', 'sources']

/** A full listing for an agent: all members except those that only people need. */
export const ListingCardSchema = v.looseObject({
  id: v.string(),
  name: v.string(),
  kind: v.string(),
  summary: v.string(),
  url: v.string(),
  trust: v.looseObject({ score: v.nullable(v.number()), evidence: v.string() }),
  texts: SellerTextsSchema,
})
type ListingCard = v.InferOutput<typeof ListingCardSchema>

export function toListingCard(view: ListingView): ListingCard {
  const kept = Object.entries(view).filter(
    ([name, value]) => !LEFT_OUT.has(name) && hasContent(value),
  )
  const { id, name, kind, summary, url, trust, texts } = view
  const card = { id, name, kind, summary, url, trust, ...Object.fromEntries(kept), texts }
  return fitLists<ListingCard>(card, LISTS)
}

function hasContent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return typeof value !== 'object' || value === null || Object.keys(value).length > 0
}

/** How many names are listed besides the operation or tool that is shown in full. */
const MOST_NAMED = 20
/** Lists that may be cut. The chosen operation keeps its inputs; kit.json has its answer. */
const KIT_LISTS = ['other_operations', 'tools', 'skills']

/** The part of a kit that one call needs: one operation or tool in full, the others by name. */
export const KitCardSchema = v.looseObject({
  id: v.string(),
  digest: v.string(),
  kind: v.string(),
  url: v.string(),
  cost: v.string(),
  texts: SellerTextsSchema,
})
type KitCard = v.InferOutput<typeof KitCardSchema>

interface KitChoice {
  /** Index of the operation or tool; by default the one that a buyer most likely wants. */
  operation?: number | undefined
  snippet?: string | undefined
  /** Operations sold on this rail come first, and snippets pay on this rail. */
  rail?: Rail | undefined
}

/** @returns the card, or a sentence about what is wrong with the choice */
export function toKitCard(kit: KitView, choice: KitChoice): KitCard | string {
  const called = toCalled(kit, choice)
  if (typeof called === 'string') return called
  const snippet = toSnippet(kit, choice)
  if (typeof snippet === 'string') return snippet
  const { id, digest, kind, url, cost, name, auth, texts } = kit
  const { custody: _, fee_usd: _fee, relay: _relay, ...payment } = kit.payment
  const { rails } = payment
  const about = { id, digest, kind, url, cost, name, auth, ...(rails.length > 0 && { payment }) }
  return fitLists<KitCard>({ ...about, ...called, ...snippet, texts }, KIT_LISTS)
}

function toCalled(kit: KitView, choice: KitChoice): object | string {
  const { operation } = choice
  switch (kit.kind) {
    case 'http_api':
      return toOperation(kit.operations, choice)
    case 'a2a_agent':
      return {
        ...(kit.discovery.agent_card !== undefined && { agent_card: kit.discovery.agent_card }),
        skills: kit.skills.slice(0, MOST_NAMED).map(({ id, name }) => ({ id, name })),
      }
    default:
      return { invoke: kit.invoke, ...toTools(kit.tools, operation) }
  }
}

function toOperation(operations: readonly KitOperation[], choice: KitChoice): object | string {
  const chosen = findOperation(operations, choice)
  if (chosen === undefined)
    return `Unknown operation ${choice.operation}: this listing has ${operations.length}, counted from 0.`
  const numbers = new Map(operations.map((operation, index) => [operation, index]))
  const isOn = ({ offers = [] }: KitOperation) => offers.some(({ rail }) => rail === choice.rail)
  const others = operations
    .filter((operation) => operation !== chosen)
    .toSorted((a, b) => Number(isOn(b)) - Number(isOn(a)))
    .slice(0, MOST_NAMED)
    .map((operation) => ({
      operation: numbers.get(operation),
      call: `${operation.method} ${operation.url}`,
    }))
  const { response: _, ...operation } = chosen
  return {
    operation: { ...operation, ...toOutput(chosen) },
    ...(others.length > 0 && { other_operations: others }),
  }
}

/** Finds an operation by its index in kit.json, whatever the rail. */
function findOperation(
  operations: readonly KitOperation[],
  { operation, rail }: KitChoice,
): KitOperation | undefined {
  return operation === undefined ? chooseOperation(operations, rail) : operations[operation]
}

function toTools(
  tools: KitView['tools'],
  position: number | undefined,
): { tool?: object; tools?: object[] } {
  if (tools.length === 0) return {}
  const chosen = position === undefined ? undefined : tools[position]
  return {
    ...(chosen !== undefined && { tool: chosen }),
    tools: tools.slice(0, MOST_NAMED).map(({ name }, operation) => ({ operation, name })),
  }
}

/** A snippet that calls the shown operation. */
function toSnippet(kit: KitView, choice: KitChoice): object | string {
  const { snippet } = choice
  if (snippet === undefined) return {}
  const operation = findOperation(kit.operations, choice)
  const snippets =
    operation === undefined
      ? kit.snippets
      : toOperationSnippets(kit.pricing, operation, choice.rail)
  const code = Object.hasOwn(snippets, snippet) ? snippets[snippet] : undefined
  if (code === undefined)
    return `Unknown snippet ${JSON.stringify(snippet)}; expected one of ${Object.keys(snippets).join(', ') || 'none'}.`
  return { snippet: code }
}

/* Entries in ARD 0.91 and in the AI Catalog 1.0, which share their form. Every identifier has our
   own domain: a seller's domain would claim the seller's authority. */
export const SERVER_CARD_TYPE = 'application/mcp-server-card+json'
export const AGENT_CARD_TYPE = 'application/a2a-agent-card+json'
/** The type of kit.json: no standard has one. */
const KIT_TYPE = 'application/vnd.agent-kit+json'

type Typed = Pick<ListingFacts, 'kind' | 'invoke'> & Pick<ListingView, 'discovery'>

export function toArdType({ kind, invoke, discovery }: Typed) {
  if (kind === 'mcp_server' && invoke.some((entry) => entry.kind === 'mcp')) return SERVER_CARD_TYPE
  return kind === 'a2a_agent' && discovery?.agent_card !== undefined ? AGENT_CARD_TYPE : KIT_TYPE
}

/** A listing's values by which ARD filters; a row in the release. */
export function toArdRow({ id, facts }: DerivedListing) {
  const { kind, tags, categories, pricing } = facts
  return { id, kind, type: toArdType(facts), tags, categories, rails: [...railsOf(pricing)] }
}
export type ArdRow = ReturnType<typeof toArdRow>

export function toUrnPrefix(baseUrl: string): string {
  return `urn:air:${new URL(baseUrl).hostname}`
}
