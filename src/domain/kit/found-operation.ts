import * as v from 'valibot'
import { cutText } from '../derived/cut-text.ts'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import type { InvokeEntry } from '../listing/invoke.ts'
import { OfferSchema, OperationPriceSchema } from '../listing/operation.ts'
import type { Skill, Tool } from '../listing/tools-and-skills.ts'
import { callPath, pagePath } from '../wire/links.ts'
import { AUTH_TYPES, HTTP_METHODS, KINDS } from '../wire/vocabulary.ts'
import { type KitOperation, toKitOperations } from './kit-operations.ts'
import type { KitView } from './kit-view.ts'

/** Three results stay within a kilobyte and a half: a description is cut to what tells them apart. */
const MAX_DESCRIPTION = 80
const MAX_OFFERS = 2
const MAX_INPUTS = 6
const MAX_EXAMPLE = 300

/** A deed of a listing: an operation over HTTP, a tool of an MCP server, a skill of an agent. */
export const FoundOperationSchema = v.object({
  listing: v.object({
    id: v.string(),
    name: v.string(),
    kind: v.picklist(KINDS),
    trust: v.nullable(v.number()),
    auth: v.picklist(AUTH_TYPES),
    page: v.string(),
  }),
  operation: v.object({
    /** Of a tool or skill. */
    name: v.optional(v.string()),
    method: v.optional(v.picklist(HTTP_METHODS)),
    /** Where it is called; of a tool the address of its server. */
    url: v.optional(v.string()),
    /** The package of a tool that runs in a process of one's own. */
    package: v.optional(v.string()),
    description: v.optional(v.string()),
    price: v.optional(OperationPriceSchema),
    /** Without prices where `price` says them. */
    offers: v.optional(v.array(v.partial(OfferSchema, ['min_usd', 'max_usd']))),
    /** What must be given, with its type. */
    input: v.optional(v.record(v.string(), v.string())),
    /** A request that may be sent as it stands: its address, and its body where it has one. */
    example: v.optional(v.object({ url: v.optional(v.string()), body: v.optional(v.unknown()) })),
    relay_url: v.optional(v.string()),
  }),
})
export type FoundOperation = v.InferOutput<typeof FoundOperationSchema>

/** What is searched of an operation, beside its listing's own words. */
export interface OperationEntry {
  found: FoundOperation
  /** Its name and task. */
  names: string[]
  description: string
  /** Lowest price in US dollars; null where none is known of it. */
  minUsd: number | null
}

/**
 * All that may be asked of a listing, each as an answer shows it. A server or an agent of which
 * nothing is known to be asked is found as a whole, with where it is reached.
 */
export function toOperationEntries(listing: DerivedListing, baseUrl: string): OperationEntry[] {
  const { id, facts, surface, trust, buy, evidence } = listing
  const shown = {
    ...{ id, name: facts.name, kind: facts.kind, trust: trustScoreOf(trust) },
    ...{ auth: facts.auth.type, page: pagePath(id) },
  }
  const relayUrl = buy.buy === 'relay_x402' ? `${baseUrl}${callPath(id)}` : null
  const operations = toKitOperations(listing, relayUrl)
  const place = toPlace(facts.invoke)
  // An agent is asked where its card says, which may not be its own page.
  const asked = evidence.interface?.server?.url ?? facts.url
  const entries = [
    ...operations.map((operation) => toHttpEntry(shown, operation)),
    ...surface.tools.map((tool) => toToolEntry(shown, tool, place)),
    ...surface.skills.map((skill) => ({
      found: { listing: shown, operation: toFoundSkill(skill, asked) },
      names: [skill.name],
      description: [skill.description, ...(skill.examples ?? [])].join(' '),
      minUsd: null,
    })),
  ]
  const reached = facts.kind === 'a2a_agent' ? { url: asked } : place
  if (entries.length > 0 || Object.keys(reached).length === 0) return entries
  const operation = { ...reached, description: shorten(facts.summary) }
  const found = { listing: shown, operation }
  return [{ found, names: [facts.name], description: facts.summary, minUsd: null }]
}

function toHttpEntry(listing: FoundOperation['listing'], operation: KitOperation): OperationEntry {
  const { url, description, price, task } = operation
  return {
    found: { listing, operation: toFoundHttp(operation) },
    names: [lastPartOf(url), ...(task === undefined ? [] : [task.replaceAll('_', ' ')])],
    description: description ?? '',
    minUsd: price?.min_usd ?? null,
  }
}

export function toFoundHttp(operation: KitOperation): FoundOperation['operation'] {
  const { method, url, description, price, offers, relay_url, example } = operation
  const required = (operation.params ?? []).filter(
    (param) => param.required === true || param.in === 'path',
  )
  const sent = {
    ...(example.url !== url && { url: example.url }),
    ...(example.body !== undefined && { body: example.body }),
  }
  const isShort = JSON.stringify(sent).length <= MAX_EXAMPLE
  return {
    ...{ method, url },
    ...(description !== undefined && { description: shorten(description) }),
    ...(price !== undefined && { price }),
    ...(offers !== undefined && { offers: toOffers(offers, price) }),
    ...toInput(required.map(({ name, schema }) => [name, typeOf(schema)])),
    ...(isShort && Object.keys(sent).length > 0 && { example: sent }),
    ...(relay_url !== undefined && { relay_url }),
  }
}

function toOffers(
  offers: NonNullable<KitOperation['offers']>,
  price: KitOperation['price'],
): FoundOperation['operation']['offers'] {
  return offers.slice(0, MAX_OFFERS).map(({ min_usd, max_usd, ...rest }) => {
    const isSame = min_usd === price?.min_usd && max_usd === price.max_usd
    return isSame ? rest : { ...rest, min_usd, max_usd }
  })
}

function toToolEntry(
  listing: FoundOperation['listing'],
  tool: Tool,
  place: { url?: string; package?: string },
): OperationEntry {
  const { name, title, description } = tool
  return {
    found: { listing, operation: toFoundTool(tool, place) },
    names: [name, ...(title === undefined ? [] : [title])],
    description,
    minUsd: null,
  }
}

export function toFoundTool(
  { name, description, input_schema: { properties, required } }: Tool,
  place: { url?: string; package?: string },
): FoundOperation['operation'] {
  const names = Array.isArray(required) ? required.map(String) : []
  const types: object = typeof properties === 'object' && properties !== null ? properties : {}
  return {
    name,
    ...place,
    description: shorten(description),
    ...toInput(names.map((input) => [input, typeOf(Reflect.get(types, input))])),
  }
}

export function toFoundSkill(
  { name, description }: Skill,
  url: string,
): FoundOperation['operation'] {
  return { name, url, description: shorten(description) }
}

/** Where the tools of a server are called: its address, else its package. */
export function toPlace(invoke: readonly (InvokeEntry | KitView['invoke'][number])[]): {
  url?: string
  package?: string
} {
  const remote = invoke.find((entry) => entry.kind === 'mcp')
  if (remote !== undefined) return { url: remote.url }
  const local = invoke.find((entry) => entry.kind === 'mcp_package')
  return local === undefined ? {} : { package: `${local.registry}:${local.identifier}` }
}

function toInput(pairs: readonly (readonly [string, string])[]): {
  input?: Record<string, string>
} {
  return pairs.length === 0 ? {} : { input: Object.fromEntries(pairs.slice(0, MAX_INPUTS)) }
}

function typeOf(schema: unknown): string {
  const type = typeof schema === 'object' && schema !== null ? Reflect.get(schema, 'type') : null
  return typeof type === 'string' ? type : 'any'
}

/** The words of an address: what its path ends in says what it does. */
function lastPartOf(url: string): string {
  return new URL(url).pathname
    .split(/[/{}]+/)
    .filter((part) => part !== '' && !/^v?\d+$/.test(part))
    .slice(-2)
    .join(' ')
}

function shorten(text: string): string {
  return cutText(text.trim().split('\n', 1)[0] ?? '', MAX_DESCRIPTION)
}
