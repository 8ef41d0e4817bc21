import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import type { SiteNames } from '../derived/tables.ts'
import type { ListingFacts } from '../listing/listing-facts.ts'
import { railsOf } from '../listing/pricing.ts'
import { MAX_QUERY_CHARACTERS } from '../search/search-query.ts'
import type { ListingView } from '../views/listing-view.ts'
import { isJsonObject } from '../wire/json.ts'
import { kitPath } from '../wire/links.ts'
import { whole } from '../wire/shapes.ts'
import { KINDS, type Kind } from '../wire/vocabulary.ts'
import { toOwnSummary, toServerCard } from './cards.ts'

/*
 * Entries of ARD 0.91 and of the AI Catalog 1.0, which share their form. Every identifier has our
 * own domain: a seller's would claim the seller's authority.
 */
const SERVER_CARD_TYPE = 'application/mcp-server-card+json'
export const AGENT_CARD_TYPE = 'application/a2a-agent-card+json'
const REGISTRY_TYPE = 'application/ai-registry+json'
/** kit.json, for which no standard has a type. */
const KIT_TYPE = 'application/vnd.agent-kit+json'

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
type ArdRow = v.InferOutput<typeof ArdRowSchema>

export function toArdRow({ id, facts }: DerivedListing): ArdRow {
  const { kind, tags, categories, pricing } = facts
  return { id, kind, type: typeOf(facts), tags, categories, rails: [...railsOf(pricing)] }
}

/** Namespace of our own terms in entries, beyond those of ARD. */
function toOwnNamespace(baseUrl: string): string {
  return `${baseUrl}/docs#`
}

/** @example toUrn('x402.exa', 'http_api', 'https://directory.example') → 'urn:air:directory.example:http_api:x402.exa' */
function toUrn(id: string, kind: Kind, baseUrl: string): string {
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

/** The query of `POST /ard/search` (ARD 0.91 §5.3); closed, as specified. */
const QuerySchema = v.strictObject({
  '@context': v.optional(v.union([v.string(), v.array(v.unknown()), v.looseObject({})])),
  text: v.pipe(v.string(), v.maxLength(MAX_QUERY_CHARACTERS)),
  filter: v.optional(
    v.record(
      v.pipe(v.string(), v.maxLength(300)),
      v.union([v.string(), v.array(v.string())], 'expected text or a list of texts'),
    ),
    {},
  ),
})
export type ArdQuery = v.InferOutput<typeof QuerySchema>

const DEFAULT_PAGE = 10
const MOST_REQUESTED = 100

export const ArdSearchSchema = v.strictObject({
  query: QuerySchema,
  /** Taken as the standard has it; the answer is our own listings, whatever it says. */
  federation: v.optional(v.picklist(['auto', 'referrals', 'none']), 'none'),
  pageSize: v.optional(whole(1, MOST_REQUESTED), DEFAULT_PAGE),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(100))),
})

/** The namespace of terms that are written without a prefix (§4.1). */
const ARD_NAMESPACE = 'https://agenticresourcediscovery.org/ns#'

/** The terms of §4.2, and `publisher`, which is read from the identifier (§5.3.1). */
const ARD_TERMS = [
  ...['identifier', 'displayName', 'type', 'url', 'data', 'representativeQueries', 'capabilities'],
  ...['description', 'tags', 'version', 'updatedAt', 'metadata', 'trustManifest', 'publisher'],
]
/** Below these, the rest of a path is literal (§5.3.1). */
const OPAQUE = /^(data|metadata|trustManifest)\./

/** An IRI, and values of which an entry must have one. */
export interface Constraint {
  iri: string
  values: readonly string[]
}

type Reader<Entry> = (entry: Entry) => readonly string[]
/** The values of an entry, by the IRI of a term. */
type Terms<Entry> = ReadonlyMap<string, Reader<Entry>>

/** Terms of our own entries, and how their rows are read for them. */
export function createOwnTerms(baseUrl: string): Terms<ArdRow> {
  const own = toOwnNamespace(baseUrl)
  const publisher = [new URL(baseUrl).hostname]
  return new Map<string, Reader<ArdRow>>([
    [`${ARD_NAMESPACE}identifier`, ({ id, kind }) => [toUrn(id, kind, baseUrl)]],
    [`${ARD_NAMESPACE}type`, ({ type }) => [type]],
    [`${ARD_NAMESPACE}tags`, ({ tags }) => tags],
    [`${ARD_NAMESPACE}publisher`, () => publisher],
    [`${own}kind`, ({ kind }) => [kind]],
    [`${own}category`, ({ categories }) => categories],
    [`${own}rail`, ({ rails }) => rails],
  ])
}

/** Reads names as IRIs (§5.3.1); null for an unbound one. No context is fetched. */
export function createTermReader(context: ArdQuery['@context'], baseUrl: string) {
  const own = toOwnNamespace(baseUrl)
  const bound = new Map([
    ...ARD_TERMS.map((term) => [term, ARD_NAMESPACE + term] as const),
    // Without a prefix too: clients asked so before entries had namespaces.
    ...['kind', 'category', 'rail'].map((term) => [term, own + term] as const),
    ['tag', `${ARD_NAMESPACE}tags`] as const,
    ...readBindings(context),
  ])
  return (name: string): string | null => {
    const [, member = name] = OPAQUE.exec(name) ?? []
    const known = bound.get(member)
    if (known !== undefined) return known + name.slice(member.length)
    const [prefix = '', local] = name.split(/:(.*)/s)
    if (local?.startsWith('//')) return name
    const namespace = bound.get(prefix)
    return local === undefined || namespace === undefined ? null : namespace + local
  }
}

function readBindings(context: ArdQuery['@context']): (readonly [string, string])[] {
  const parts: unknown[] = Array.isArray(context) ? context : [context]
  return parts.filter(isJsonObject).flatMap((part) =>
    Object.entries(part).flatMap(([name, value]) => {
      const iri = isJsonObject(value) ? value['@id'] : value
      return typeof iri === 'string' ? [[name, iri] as const] : []
    }),
  )
}

/** AND across the keys of a filter, OR among the values of one. */
export function fitsFilter<Entry>(
  entry: Entry,
  constraints: readonly Constraint[],
  terms: Terms<Entry>,
): boolean {
  return constraints.every(({ iri, values }) =>
    terms
      .get(iri)?.(entry)
      .some((value) => values.includes(value)),
  )
}
