import * as v from 'valibot'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import { fillPlaceholders, type Param } from '../listing/listing-facts.ts'
import type { Accept } from '../trust/seen-answer.ts'
import { cutText } from '../wire/cut-text.ts'
import { listingPath } from '../wire/links.ts'

/** Limits of the discovery shape. */
const MOST_SERVICE_NAME = 32
const MOST_TAGS = 5

export const ResourceRowSchema = v.strictObject({
  id: v.string(),
  networks: v.array(v.string()),
  schemes: v.array(v.string()),
  payouts: v.array(v.string()),
  min_usd: v.nullable(v.number()),
  entry: v.looseObject({ resource: v.string(), type: v.string() }),
})
export type ResourceRow = v.InferOutput<typeof ResourceRowSchema>

/** One resource per operation, in the order of ids and of each listing's operations. */
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

function toRow(
  listing: DerivedListing,
  operation: RequestedOperation,
  baseUrl: string,
): ResourceRow {
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
): ResourceRow['entry'] {
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
 * Payers sign these terms, so they are exactly those of the seller's own 402 to our probe. For a
 * seller that names another payee each time, payers must ask it themselves.
 */
function toAccepts({ notices }: DerivedListing, { seen }: Partial<Operation>): Required<Accept>[] {
  if (notices.some(({ id }) => id === 'payout_rotating')) return []
  return (seen?.accepts ?? []).map((accept) => ({ extra: {}, ...accept }))
}

/** The rail's one published scheme, until the seller's own 402 was seen. */
function toSchemes(rails: readonly string[]): string[] {
  return rails.includes('x402') ? ['exact'] : []
}

/** With `:name` for path parameters, like the extension's `routeTemplate`: it is still a URI. */
function toUri(url: string): string {
  return new URL(toRoute(url)).href
}

function toRoute(url: string): string {
  return fillPlaceholders(url, (name) => `:${name}`)
}

/** The input of the published example, in the shape that bazaar clients read. */
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

/** The shape takes printable ASCII only; the listing has names in other scripts. */
function toServiceName(name: string): { serviceName?: string } {
  const serviceName = cutText(name, MOST_SERVICE_NAME).replace(/…$/, '')
  return /^[\x20-\x7e]+$/.test(serviceName) ? { serviceName } : {}
}
