import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import type { Policy } from '../derived/tables.ts'
import type { InvokeEntry, Setting } from '../listing/invoke.ts'
import { fillPlaceholders, type ListingFacts, type Param } from '../listing/listing-facts.ts'
import { type Gone, toGoneText } from '../listing/listing-states.ts'
import { toSlug } from '../listing/listing-text.ts'
import type { Accept } from '../trust/evidence.ts'
import { present } from '../wire/json.ts'
import { listingPath } from '../wire/links.ts'
import { cutText } from '../wire/text.ts'
import { toReverseHost } from './cards.ts'

/** The registry's limit for a title and a description (its API of 2025-12-01). */
const MOST_TEXT = 100
/** The schema for a server's entry, which the registry's own entries name too. */
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'
const OFFICIAL = 'io.modelcontextprotocol.registry/official'
/** A version that the schema accepts: no range, and not `latest`. */
const VERSION = /^(?!latest$)[^\s^~*<>=]{1,255}$/
/** Written for an unknown version, because the registry's schema requires a version. */
const UNKNOWN_VERSION = '0.0.0'

/** One server as the registry API serves it, with its search keys. A row in the release. */
export interface RegistryRow {
  id: string
  name: string
  version: string
  /** When the server was added or removed here; null if unknown. Later changes are in the log. */
  changed: string | null
  deleted: boolean
  /** Ids of the policies that the server fits; null for a removed server: every copy must learn of its removal. */
  policies: string[] | null
  entry: { server: Record<string, unknown>; _meta: Record<string, unknown> }
}

/** A removed server, with its file's content if that was kept. */
export type GoneServer = Gone & { facts: ListingFacts | undefined }

/** Listed and removed servers, by name; if two have the same name, a listed one comes first. */
export function toRegistryRows(
  listings: readonly DerivedListing[],
  gone: readonly GoneServer[],
  { baseUrl, policies }: { baseUrl: string; policies: readonly Policy[] },
): RegistryRow[] {
  const rows = new Map<string, RegistryRow>()
  const all = [
    ...listings
      .filter(({ facts }) => facts.kind === 'mcp_server')
      .map((listing) => ({
        ...toRegistryRow(listing, baseUrl),
        policies: policies
          .filter((policy) => judgePolicy(policy, listing).length === 0)
          .map(({ id }) => id),
      })),
    ...gone.map((server) => toDeletedRow(server, baseUrl)),
  ]
  for (const row of all) if (!rows.has(row.name)) rows.set(row.name, row)
  return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function toRegistryRow(listing: DerivedListing, baseUrl: string): Omit<RegistryRow, 'policies'> {
  const { id, facts, trust, status } = listing
  const { name } = toServerName(id, facts, baseUrl)
  const version = toVersion(listing)
  const remotes = facts.invoke.flatMap(toRemote)
  const packages = facts.invoke.flatMap(toPackage)
  return {
    id,
    name,
    version,
    changed: facts.added,
    deleted: false,
    entry: {
      server: {
        $schema: SCHEMA,
        name,
        description: cutText(facts.summary, MOST_TEXT),
        title: cutText(facts.name, MOST_TEXT),
        version,
        websiteUrl: facts.url,
        ...toRepository(facts.url),
        ...(remotes.length > 0 && { remotes }),
        ...(packages.length > 0 && { packages }),
      },
      _meta: {
        [OFFICIAL]: toListed(listing),
        [toMetaKey(baseUrl)]: {
          id,
          listing: `${baseUrl}${listingPath(id)}`,
          status,
          version_known: version !== UNKNOWN_VERSION,
          trust: { score: trustScoreOf(trust), evidence: trust.evidence },
        },
      },
    },
  }
}

/** Key for our own statements in another protocol's `_meta`. */
function toMetaKey(baseUrl: string): string {
  return `${toReverseHost(baseUrl)}/listing`
}

/** The registry's answer for a removed server: its name, so that readers find their copy. */
function toDeletedRow({ id, at, facts, ...gone }: GoneServer, baseUrl: string): RegistryRow {
  const { name, version } = toServerName(id, facts, baseUrl)
  const statusMessage = toGoneText({ id, at, ...gone })
  return {
    id,
    name,
    version,
    changed: at,
    deleted: true,
    policies: null,
    entry: {
      server: {
        $schema: SCHEMA,
        name,
        description: cutText(facts?.summary ?? statusMessage, MOST_TEXT),
        ...(facts !== undefined && { title: cutText(facts.name, MOST_TEXT) }),
        version,
      },
      _meta: {
        // The registry's own member, where its readers look.
        [OFFICIAL]: {
          status: 'deleted',
          statusMessage,
          ...(facts !== undefined && { publishedAt: toInstant(facts.added) }),
          ...(at !== null && { statusChangedAt: at, updatedAt: at }),
          isLatest: true,
        },
        [toMetaKey(baseUrl)]: { id, ...gone },
      },
    },
  }
}

function toServerName(
  id: string,
  facts: Pick<ListingFacts, 'registry_name' | 'version'> | undefined,
  baseUrl: string,
) {
  return {
    name: facts?.registry_name ?? `${toReverseHost(baseUrl)}/${toSlug(id)}`,
    version: facts?.version ?? UNKNOWN_VERSION,
  }
}

/** An active server, or a deprecated one with its source's reason. `added` is its only known date. */
function toListed({ facts, notices }: DerivedListing): object {
  const at = toInstant(facts.added)
  const deprecated = notices.find(({ id }) => id === 'deprecated')
  const times = { statusChangedAt: deprecated?.at ?? at, publishedAt: at, updatedAt: at }
  return deprecated === undefined
    ? { status: 'active', ...times, isLatest: true }
    : { status: 'deprecated', statusMessage: deprecated.note, ...times, isLatest: true }
}

/** The version named by people or the registry, else the version that the server named when probed. */
function toVersion({ facts, evidence }: DerivedListing): string {
  const named = [facts.version, evidence.interface?.server?.version, evidence.package_run?.version]
  return named.find((version) => version !== undefined && VERSION.test(version)) ?? UNKNOWN_VERSION
}

/** @example toInstant('2026-11-20') → '2026-11-20T00:00:00Z' */
function toInstant(date: string): string {
  return `${date}T00:00:00Z`
}

const CODE_HOSTS: Readonly<Record<string, string>> = {
  'github.com': 'github',
  'gitlab.com': 'gitlab',
}

/** The repository, if a listing's own page is one. */
function toRepository(url: string): { repository?: { url: string; source: string } } {
  const source = CODE_HOSTS[new URL(url).hostname]
  return source === undefined ? {} : { repository: { url, source } }
}

function toRemote(entry: InvokeEntry): object[] {
  if (entry.kind !== 'mcp') return []
  const { transport: type, url, headers, variables = [] } = entry
  const named = variables.map(({ name, ...variable }) => {
    const { name: _, ...input } = toInput({ name, ...variable })
    return [name, input]
  })
  return [
    {
      ...{ type, url },
      ...(named.length > 0 && { variables: Object.fromEntries(named) }),
      ...(headers !== undefined && { headers: headers.map(toInput) }),
    },
  ]
}

function toPackage(entry: InvokeEntry): object[] {
  if (entry.kind !== 'mcp_package') return []
  const { registry: registryType, identifier, transport, env, args } = entry
  // The schema requires the address of a package that listens, which is unknown.
  if (transport !== 'stdio') return []
  return [
    {
      registryType,
      identifier,
      transport: { type: transport },
      ...(env !== undefined && { environmentVariables: env.map(toInput) }),
      ...(args !== undefined && {
        packageArguments: args.map((value) => ({ type: 'positional', value })),
      }),
    },
  ]
}

function toInput({ name, description, required, secret, choices, ...setting }: Setting) {
  const value = { default: setting.default, placeholder: setting.example, choices }
  return {
    ...{ name, ...present({ description }), isRequired: required, isSecret: secret },
    ...present(value),
  }
}

export type PolicyView = ReturnType<typeof toPolicyView>

/** @returns the policy's reasons for leaving a server out; empty for a server that is in */
export function judgePolicy(policy: Policy, listing: DerivedListing): string[] {
  const { min_trust, verified, no_notices, allow } = policy
  const score = trustScoreOf(listing.trust)
  const { notices } = listing
  const isProved = listing.tiers.earned.some((tier) => tier === 'verified')
  return [
    ...(allow !== undefined && !allow.includes(listing.id) ? ['not on the list'] : []),
    ...(min_trust !== undefined && (score ?? -1) < min_trust
      ? [score === null ? 'no trust score' : `trust ${score}, below ${min_trust}`]
      : []),
    ...(verified && !isProved ? ['not claimed with proof of its domain'] : []),
    ...(no_notices && notices.length > 0
      ? [`open: ${notices.map((one) => one.id).join(', ')}`]
      : []),
  ]
}

/** Every MCP server under a policy, allowed ones first. */
export function toPolicyView(policy: Policy, listings: readonly DerivedListing[]) {
  const { id, name, note } = policy
  const servers = listings
    .filter(({ facts }) => facts.kind === 'mcp_server')
    .map((listing) => ({
      id: listing.id,
      name: listing.facts.name,
      // Empty for a server that is in.
      reasons: judgePolicy(policy, listing),
    }))
  servers.sort((a, b) => Number(a.reasons.length > 0) - Number(b.reasons.length > 0))
  return { id, name, note, servers }
}

/** Limits in the discovery shape. */
const MOST_SERVICE_NAME = 32
const MOST_TAGS = 5

export type ResourceRow = ReturnType<typeof toRow>

/** One resource per operation, ordered by id and then as in the listing. */
export function toResourceRows(
  listings: readonly DerivedListing[],
  baseUrl: string,
): ResourceRow[] {
  return listings
    .filter(({ facts }) => facts.kind === 'http_api' && facts.pricing.model === 'per_call')
    .flatMap((listing) => toRows(listing, baseUrl))
}

function toRows(listing: DerivedListing, baseUrl: string): ResourceRow[] {
  const { facts, surface } = listing
  const operations =
    surface.operations.length > 0
      ? surface.operations.filter(({ price }) => price === undefined || price.max_usd > 0)
      : [{ method: 'GET' as const, url: facts.url }]
  return operations.map((operation) => toRow(listing, operation, baseUrl))
}

type Operation = DerivedListing['surface']['operations'][number]
type RequestedOperation = Pick<Operation, 'method' | 'url'> & Partial<Operation>

function toRow(listing: DerivedListing, operation: RequestedOperation, baseUrl: string) {
  const { id, facts, payees } = listing
  const { pricing } = facts
  const listed = pricing.model === 'per_call' ? pricing : { networks: [], rails: [], min_usd: 0 }
  const { offers = [], price } = operation
  const accepts = toAccepts(listing, operation)
  const offered = offers.flatMap(({ network }) => network ?? [])
  const networks = [
    ...(offered.length > 0 ? offered : listed.networks),
    ...accepts.map(({ network }) => network),
  ]
  const rails = offers.length > 0 ? offers.map(({ rail }) => rail) : listed.rails
  return {
    id,
    networks: [...new Set(networks)],
    schemes: accepts.length > 0 ? accepts.map(({ scheme }) => scheme) : toSchemes(rails),
    payouts: payees,
    min_usd: price?.min_usd ?? listed.min_usd,
    entry: toEntry(listing, { ...operation, accepts }, baseUrl),
  }
}

function toEntry(
  listing: DerivedListing,
  { accepts, ...operation }: RequestedOperation & { accepts: object[] },
  baseUrl: string,
) {
  const { id, facts, payees } = listing
  return {
    resource: toUri(operation.url),
    type: 'http',
    x402Version: 2,
    accepts,
    lastUpdated: operation.seen?.at ?? `${facts.added}T00:00:00Z`,
    description: operation.description ?? facts.summary,
    ...toServiceName(facts.name),
    tags: facts.tags.slice(0, MOST_TAGS),
    extensions: {
      bazaar: toBazaar(operation),
      directory: {
        listing_id: id,
        listing: `${baseUrl}${listingPath(id)}`,
        method: operation.method,
        price: operation.price ?? null,
        pricing: facts.pricing,
        offers: operation.offers ?? [],
        payouts: payees,
        trust: { score: trustScoreOf(listing.trust), evidence: listing.trust.evidence },
      },
    },
  }
}

/**
 * Payers sign these terms, so they are exactly the terms in the seller's own 402 to our probe. If a
 * seller names a different payee each time, payers must request the terms themselves.
 */
function toAccepts({ notices }: DerivedListing, { seen }: Partial<Operation>): Required<Accept>[] {
  if (notices.some(({ id }) => id === 'payout_rotating')) return []
  return (seen?.accepts ?? []).map((accept) => ({ extra: {}, ...accept }))
}

/** The rail's one published scheme, until we have seen the seller's own 402. */
function toSchemes(rails: readonly string[]): string[] {
  return rails.includes('x402') ? ['exact'] : []
}

/** Writes path parameters as `:name`, like the extension's `routeTemplate`; the result is still a URI. */
function toUri(url: string): string {
  return new URL(toRoute(url)).href
}

function toRoute(url: string): string {
  return fillPlaceholders(url, (name) => `:${name}`)
}

/** The published example's input, in the shape that bazaar clients read. */
function toBazaar({ method, url, body, params = [] }: Pick<Operation, 'url'> & Partial<Operation>) {
  const route = toRoute(url)
  const input = {
    ...{ type: 'http', method },
    ...toExamples('queryParams', params, 'query'),
    ...toExamples('pathParams', params, 'path'),
    ...(body !== undefined &&
      method !== 'DELETE' && { bodyType: 'json', body: body.example ?? {} }),
  }
  return { info: { input }, ...(route !== url && { routeTemplate: new URL(route).pathname }) }
}

function toExamples(member: string, params: readonly Param[], place: Param['in']) {
  const examples = params.flatMap(({ in: where, name, example }) =>
    where === place && example !== undefined ? [[name, example]] : [],
  )
  return examples.length > 0 ? { [member]: Object.fromEntries(examples) } : {}
}

/** The shape takes only printable ASCII, but listings have names in other scripts. */
function toServiceName(name: string): { serviceName?: string } {
  const serviceName = cutText(name, MOST_SERVICE_NAME).replace(/…$/, '')
  return /^[\x20-\x7e]+$/.test(serviceName) ? { serviceName } : {}
}
