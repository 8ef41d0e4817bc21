import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import type { SiteNames } from '../derived/tables.ts'
import type { ListingFacts } from '../listing/listing-facts.ts'
import { railsOf } from '../listing/pricing.ts'
import type { ListingView } from '../views/listing-view.ts'
import { kitPath } from '../wire/links.ts'
import { KINDS, type Kind } from '../wire/vocabulary.ts'
import { toOwnSummary, toServerCard } from './cards/own-cards.ts'

/*
 * Entries of ARD 0.91 and of the AI Catalog 1.0, which share their form. Every identifier has our
 * own domain: a seller's would claim the seller's authority.
 */
export const SERVER_CARD_TYPE = 'application/mcp-server-card+json'
export const AGENT_CARD_TYPE = 'application/a2a-agent-card+json'
export const REGISTRY_TYPE = 'application/ai-registry+json'
/** kit.json, for which no standard has a type. */
export const KIT_TYPE = 'application/vnd.agent-kit+json'

/**
 * Ourselves: the registry to search in, the MCP server and the A2A agent. Never every listing.
 * @param topics what most of our listings are about, at most four
 */
export function toOwnEntries(baseUrl: string, site: SiteNames, topics: readonly string[]) {
  const queries = [
    'find an API that does a task',
    ...topics.map((topic) => `services for ${topic.toLowerCase()}`),
  ]
  const entry = (name: string, displayName: string, type: string, path: string) => ({
    identifier: `${toUrnPrefix(baseUrl)}:service:${name}`,
    displayName,
    type,
    description: toOwnSummary(site),
    url: `${baseUrl}${path}`,
    representativeQueries: queries,
  })
  return [
    entry('registry', `${site.name} registry`, REGISTRY_TYPE, '/ard'),
    entry('mcp', `${site.name} MCP server`, SERVER_CARD_TYPE, '/mcp/server-card'),
    entry('agent', `${site.name} agent`, AGENT_CARD_TYPE, '/.well-known/agent-card.json'),
  ]
}

/** Its `url` or `data` is a document of the very `type` it names; its context binds our terms. */
export function toArdEntry(view: ListingView, baseUrl: string) {
  const type = typeOf(view)
  const entry = {
    '@context': { directory: toOwnNamespace(baseUrl) },
    identifier: toUrn(view.id, view.kind, baseUrl),
    displayName: view.name,
    description: view.summary,
    type,
    representativeQueries: toQueries(view),
    tags: view.tags,
    'directory:kind': view.kind,
    'directory:category': view.categories,
    'directory:rail': railsOf(view.pricing),
  }
  const card = type === SERVER_CARD_TYPE ? toServerCard(view, baseUrl) : null
  if (card !== null) return { ...entry, data: card }
  const url = type === AGENT_CARD_TYPE ? view.discovery?.agent_card : undefined
  return { ...entry, url: url ?? `${baseUrl}${kitPath(view.id)}` }
}

type Typed = Pick<ListingFacts, 'kind' | 'invoke'> & Pick<ListingView, 'discovery'>

function typeOf({ kind, invoke, discovery }: Typed) {
  if (kind === 'mcp_server' && invoke.some((entry) => entry.kind === 'mcp')) return SERVER_CARD_TYPE
  return kind === 'a2a_agent' && discovery?.agent_card !== undefined ? AGENT_CARD_TYPE : KIT_TYPE
}

/** The values of an entry for filters and facets. A row of the release. */
export const ArdRowSchema = v.object({
  id: v.string(),
  kind: v.picklist(KINDS),
  type: v.string(),
  tags: v.array(v.string()),
  categories: v.array(v.string()),
  rails: v.array(v.string()),
})
export type ArdRow = v.InferOutput<typeof ArdRowSchema>

export function toArdRow({ id, facts }: DerivedListing): ArdRow {
  const { kind, tags, categories, pricing } = facts
  return { id, kind, type: typeOf(facts), tags, categories, rails: [...railsOf(pricing)] }
}

/** Namespace of our own terms in entries, beyond those of ARD. */
export function toOwnNamespace(baseUrl: string): string {
  return `${baseUrl}/docs#`
}

/** @example toUrn('x402.exa', 'http_api', 'https://directory.example') → 'urn:air:directory.example:http_api:x402.exa' */
export function toUrn(id: string, kind: Kind, baseUrl: string): string {
  return `${toUrnPrefix(baseUrl)}:${kind}:${id}`
}

/** The id an identifier of ours names, or null for anything else. */
export function parseUrn(urn: string, baseUrl: string): string | null {
  const prefix = `${toUrnPrefix(baseUrl)}:`
  if (!urn.startsWith(prefix)) return null
  const [kind, id, ...more] = urn.slice(prefix.length).split(':')
  const isOurs = id !== undefined && more.length === 0 && KINDS.some((known) => known === kind)
  return isOurs ? id : null
}

function toUrnPrefix(baseUrl: string): string {
  return `urn:air:${new URL(baseUrl).hostname}`
}

/** Two to five, made from the listing's own words: its name and its tags, nothing invented. */
function toQueries({ name, tags, categories }: ListingView): string[] {
  const words = [...tags, ...categories].map((word) => word.replaceAll('_', ' '))
  return [name, words.slice(0, 3).join(' '), words.slice(3, 6).join(' ')].filter(
    (query) => query !== '',
  )
}
