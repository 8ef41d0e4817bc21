import * as v from 'valibot'
import { cutText } from '../derived/cut-text.ts'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { trustScoreOf } from '../derived/derived-listing.ts'
import { listingPath } from '../wire/links.ts'

/** Bounds of the discovery shape. */
const MOST_SERVICE_NAME = 32
const MOST_TAGS = 5

/** `accepts` is empty: payers would sign it, and only the seller's 402 knows asset and payee. */
export const ResourceRowSchema = v.strictObject({
  id: v.string(),
  networks: v.array(v.string()),
  rails: v.array(v.string()),
  payouts: v.array(v.string()),
  min_usd: v.nullable(v.number()),
  entry: v.looseObject({ resource: v.string(), type: v.string() }),
})
export type ResourceRow = v.InferOutput<typeof ResourceRowSchema>

/** One resource an operation, in the order of ids and of each listing's operations. */
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

function toRow(
  { id, facts, trust }: DerivedListing,
  operation: Pick<Operation, 'method' | 'url' | 'description' | 'price' | 'offers' | 'body'>,
  baseUrl: string,
): ResourceRow {
  const { pricing } = facts
  const listed = pricing.model === 'per_call' ? pricing : { networks: [], rails: [], min_usd: 0 }
  const offers = operation.offers ?? []
  const networks = offers.flatMap(({ network }) => network ?? [])
  return {
    id,
    networks: [...new Set(networks.length > 0 ? networks : listed.networks)],
    rails: [...new Set(offers.length > 0 ? offers.map(({ rail }) => rail) : listed.rails)],
    payouts: facts.payout,
    min_usd: operation.price?.min_usd ?? listed.min_usd,
    entry: {
      resource: operation.url,
      type: 'http',
      x402Version: 2,
      accepts: [],
      lastUpdated: `${facts.added}T00:00:00Z`,
      description: operation.description ?? facts.summary,
      ...toServiceName(facts.name),
      tags: facts.tags.slice(0, MOST_TAGS),
      extensions: {
        bazaar: { info: { input: toInput(operation) } },
        directory: {
          listing_id: id,
          listing: `${baseUrl}${listingPath(id)}`,
          method: operation.method,
          price: operation.price ?? null,
          pricing,
          offers,
          payouts: facts.payout,
          trust: { score: trustScoreOf(trust), evidence: trust.evidence },
        },
      },
    },
  }
}

/** What the published example sends, in the shape that bazaar clients read. */
function toInput({ method, body, params = [] }: Pick<Operation, 'method' | 'body' | 'params'>) {
  const inQuery = params.flatMap(({ in: place, name, example }) =>
    place === 'query' && example !== undefined ? [[name, example]] : [],
  )
  const query = inQuery.length > 0 && { queryParams: Object.fromEntries(inQuery) }
  if (body === undefined) return { type: 'http', method, ...query }
  return { type: 'http', method, ...query, bodyType: 'json', body: body.example ?? {} }
}

/** The shape takes printable ASCII only; the listing has names in other scripts. */
function toServiceName(name: string): { serviceName?: string } {
  const serviceName = cutText(name, MOST_SERVICE_NAME).replace(/…$/, '')
  return /^[\x20-\x7e]+$/.test(serviceName) ? { serviceName } : {}
}
