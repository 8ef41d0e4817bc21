import * as v from 'valibot'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import {
  attributionOf,
  type CategoryRow,
  type MarketSeries,
  MarketSeriesSchema,
  type RoadmapRow,
  type SiteTexts,
  SiteTextsSchema,
  type SourceRow,
  SourceRowSchema,
} from '../derived/tables.ts'
import type { Operation } from '../listing/listing-facts.ts'
import { isJsonPayload } from '../listing/operation.ts'
import { lowestPriceOf, railsOf } from '../listing/pricing.ts'
import { type Ages, AgesSchema } from '../trust/age.ts'
import { dayOfUse } from '../trust/evidence.ts'
import { type TrustLedgerFacts, TrustLedgerSchema } from '../trust/ledger-facts.ts'
import {
  badgeDataPath,
  badgePath,
  categoryPath,
  comparePath,
  kindPath,
  pagePath,
  taskPath,
} from '../wire/links.ts'
import { DOCS_GROUPS, docsPath, PROTOCOL_ENDPOINTS, ROUTES } from '../wire/routes.ts'
import { count, described } from '../wire/shapes.ts'
import { KINDS, RAILS, type Rail } from '../wire/vocabulary.ts'
import { sourceIdsOf } from './listing-view.ts'

const FEATURE_STATUSES = ['live', 'stub', 'planned'] as const

export const CategoriesSchema = v.object({
  categories: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      description: v.string(),
      listings: count,
      page: v.string(),
    }),
  ),
})
export type CategoriesView = v.InferOutput<typeof CategoriesSchema>

export function toCategoriesView(
  rows: readonly CategoryRow[],
  listings: readonly DerivedListing[],
): CategoriesView {
  const counts = countBy(listings, ({ facts }) => facts.categories)
  return {
    categories: rows.map((row) => ({
      ...row,
      listings: counts.get(row.id) ?? 0,
      page: categoryPath(row.id),
    })),
  }
}

const WebUrlSchema = v.pipe(v.string(), v.regex(/^https?:\/\//))

/** `GET /api/v1/sources`: where data comes from, and what was decided about its terms. */
export const SourcesSchema = v.object({
  // Any http or https URL: the row of this directory has `BASE_URL`.
  sources: v.array(v.object({ ...SourceRowSchema.entries, url: WebUrlSchema, listings: count })),
})
export type SourcesView = v.InferOutput<typeof SourcesSchema>

export function toSourcesView(
  rows: readonly SourceRow[],
  listings: readonly DerivedListing[],
): SourcesView {
  const counts = countBy(listings, sourceIdsOf)
  return { sources: rows.map((row) => ({ ...row, listings: counts.get(row.id) ?? 0 })) }
}

/** `GET /api/v1/business-model`. The facts about money are constants: no table may change them. */
export const BusinessModelSchema = v.object({
  ...SiteTextsSchema.entries.business_model.entries,
  fee_usd: v.literal(0),
  custody: v.literal('none'),
  in_transaction_path: v.literal(false),
  sponsored_placements: v.literal(false),
})
export type BusinessModelView = v.InferOutput<typeof BusinessModelSchema>

export function toBusinessModelView(site: SiteTexts): BusinessModelView {
  return {
    ...site.business_model,
    fee_usd: 0,
    custody: 'none',
    in_transaction_path: false,
    sponsored_placements: false,
  }
}

/** `GET /api/v1/roadmap`: texts from the table, each with its status from the routes. */
export const RoadmapSchema = v.object({
  features: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      status: v.picklist(FEATURE_STATUSES),
      endpoint: v.nullable(v.string()),
      note: v.string(),
    }),
  ),
})
export type RoadmapView = v.InferOutput<typeof RoadmapSchema>

export function toRoadmapView(rows: readonly RoadmapRow[]): RoadmapView {
  return { features: rows.map((row) => ({ ...row, status: statusOf(row.endpoint) })) }
}

/** Whether this `METHOD /path` is in the route table, or is the `GET` of an existing page. */
export function isKnownEndpoint(endpoint: string): boolean {
  return statusOf(endpoint) !== 'planned'
}

function statusOf(endpoint: string | null): (typeof FEATURE_STATUSES)[number] {
  if (endpoint === null) return 'planned'
  const [method = '', path = ''] = endpoint.split(' ')
  if (method === 'GET' && PAGE_TEMPLATES.includes(toTemplate(path))) return 'live'
  const route = [...Object.values(ROUTES), ...Object.values(PROTOCOL_ENDPOINTS)].find(
    (row) =>
      toTemplate(row.path) === toTemplate(path) &&
      row.methods.some((allowed) => allowed === method || method === 'ALL'),
  )
  if (route === undefined) return 'planned'
  return route.answer === 'stub' ? 'stub' : 'live'
}

/** `/x/:id`, `/x/<id>` and `/x/{id}` are the same path. */
function toTemplate(path: string): string {
  return path.replace(/:\w+|<\w+>|\{\w+\}/g, '*')
}

/** The fewest prices for a median: with fewer, it shows nothing about a market. */
const MIN_PRICES = 5

/** `GET /api/v1/market/reports`: the free preview; the paid tier is a stub. */
export const MarketReportsSchema = v.object({
  preview: v.object({
    prices: v.array(
      v.object({
        category: v.string(),
        rail: v.picklist(RAILS),
        listings: v.number(),
        median_min_usd: described(v.optional(v.number()), `Absent below ${MIN_PRICES} listings.`),
      }),
    ),
    measurements: described(
      v.array(MarketSeriesSchema),
      'What others measured about the whole market and published, each with its source.',
    ),
    paid_listings: described(v.number(), 'Listings that name a payment rail.'),
    priced_listings: described(v.number(), 'Paid listings whose lowest price is known.'),
    measured: v.object({
      listings: v.number(),
      settlements_30d: v.number(),
      volume_usd_30d: v.number(),
    }),
  }),
  paid: v.object({ status: v.literal('stub'), note: v.string() }),
})
export type MarketReportsView = v.InferOutput<typeof MarketReportsSchema>

export function toMarketReportsView(
  listings: readonly DerivedListing[],
  measurements: readonly MarketSeries[] = [],
): MarketReportsView {
  const outside = listings.filter(({ facts }) => !facts.first_party)
  const paid = outside.filter(({ facts }) => railsOf(facts.pricing).length > 0)
  const measured = outside.flatMap(({ trust }) =>
    trust.evidence === 'no_payment_data' ? [] : [trust.measured],
  )
  const volume = measured.reduce((sum, m) => sum + m.volume_usd_30d, 0)
  return {
    preview: {
      prices: medianPrices(paid),
      measurements: [...measurements],
      paid_listings: paid.length,
      priced_listings: paid.filter(({ facts }) => lowestPriceOf(facts.pricing) !== null).length,
      measured: {
        listings: measured.length,
        settlements_30d: Math.round(measured.reduce((sum, m) => sum + m.settlements_30d, 0)),
        volume_usd_30d: Math.round(volume * 100) / 100,
      },
    },
    paid: { status: 'stub', note: 'Full tables are not sold yet; see /api/v1/roadmap.' },
  }
}

/** Median of the lowest prices, by category and rail, sorted by both. */
function medianPrices(paid: readonly DerivedListing[]) {
  const groups = new Map<string, { category: string; rail: Rail; prices: number[] }>()
  for (const { facts } of paid) {
    const price = lowestPriceOf(facts.pricing)
    if (price === null) continue
    for (const category of facts.categories)
      for (const rail of railsOf(facts.pricing)) {
        const key = `${category} ${rail}`
        const group = groups.get(key) ?? { category, rail, prices: [] }
        group.prices.push(price)
        groups.set(key, group)
      }
  }
  return [...groups.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { category, rail, prices }]) => ({
      category,
      rail,
      listings: prices.length,
      ...(prices.length >= MIN_PRICES && { median_min_usd: medianOf(prices) }),
    }))
}

/** The middle price, or the mean of the two middle prices, without binary fraction errors. */
function medianOf(prices: readonly number[]): number {
  const sorted = prices.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) / 2
  const [lower = 0, upper = lower] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return Number(((lower + upper) / 2).toPrecision(12))
}

const counts = v.record(v.string(), count)

const DumpFileSchema = v.object({ url: v.string(), bytes: count, sha256: v.string() })
const dumpEntries = { ndjson: DumpFileSchema, gz: DumpFileSchema }
export type DumpFacts = v.InferOutput<v.ObjectSchema<typeof dumpEntries, undefined>>

/** Days of a listing's source rows, and of the rows with prices. */
export interface RowDays {
  seeds: readonly string[]
  prices: readonly string[]
}

/** `GET /api/v1/stats`. Counts include first-party listings. */
export const StatsSchema = v.object({
  listings: v.object({
    total: count,
    first_party: count,
    by_kind: counts,
    by_category: counts,
    by_rail: counts,
    by_source: counts,
    by_status: counts,
    relayable: count,
    with_trust: count,
  }),
  /** For each kind, how many listings have a quality, out of those that could have it. */
  quality: v.array(
    v.object({
      kind: v.picklist(KINDS),
      listings: count,
      have: v.record(v.string(), v.object({ has: count, of: count })),
    }),
  ),
  /** Every listing in one file, with the sources of its rows and their terms. */
  dump: v.object({
    ...dumpEntries,
    licenses: v.array(
      v.object({
        source: v.string(),
        license: v.string(),
        attribution: v.string(),
        listings: count,
      }),
    ),
  }),
  /** The payments behind the scores. */
  trust_ledger: TrustLedgerSchema,
  /** Date of the newest fact in the content; the build's time would change the bytes of every build. */
  updated: v.string(),
  ...AgesSchema.entries,
})
export type StatsView = v.InferOutput<typeof StatsSchema>

interface StatsContext {
  sources: ReadonlyMap<string, SourceRow>
  rowDays: ReadonlyMap<string, RowDays>
}

export function toStatsView(
  listings: readonly DerivedListing[],
  dump: DumpFacts,
  trustLedger: TrustLedgerFacts,
  { sources, rowDays }: StatsContext,
): StatsView {
  const group = (keysOf: (listing: DerivedListing) => readonly string[]) =>
    Object.fromEntries(countBy(listings, keysOf))
  const many = (test: (listing: DerivedListing) => boolean) => listings.filter(test).length
  const bySource = group(sourceIdsOf)
  return {
    listings: {
      total: listings.length,
      first_party: many(({ facts }) => facts.first_party),
      by_kind: group(({ facts }) => [facts.kind]),
      by_category: group(({ facts }) => facts.categories),
      by_rail: group(({ facts }) => railsOf(facts.pricing)),
      by_source: bySource,
      by_status: group(({ status }) => [status]),
      relayable: many(({ buy }) => buy.buy === 'relay_x402'),
      with_trust: many(({ trust }) => trustScoreOf(trust) !== null),
    },
    quality: countQuality(listings),
    dump: {
      ...dump,
      licenses: Object.entries(bySource).map(([source, many]) => ({
        source,
        license: sources.get(source)?.license ?? '',
        attribution: attributionOf(sources, source),
        listings: many,
      })),
    },
    trust_ledger: trustLedger,
    ...toAges(listings, rowDays),
  }
}

function toAges(
  listings: readonly DerivedListing[],
  rowDays: StatsContext['rowDays'],
): Ages & Pick<StatsView, 'updated'> {
  const days = listings.map(({ id, facts, trust, evidence, probes }) => {
    const { seeds = [], prices = [] } = rowDays.get(id) ?? {}
    const { interface: read, reported_use = [] } = evidence
    const isPriced = read?.operations?.some(({ price }) => price !== undefined)
    return {
      listing: [facts.added],
      seed: seeds,
      probe: probes.map(({ at }) => at),
      price: isPriced === true ? [...prices, read?.at ?? ''] : prices,
      payments: trust.evidence === 'no_payment_data' ? [] : [trust.measured.as_of],
      reported_use: reported_use.map((use) => dayOfUse(use)),
    }
  })
  const pick = (at: (sorted: readonly string[]) => string | undefined): Ages['newest'] => {
    const dayOf = (kind: keyof Ages['newest']) =>
      at(days.flatMap((each) => each[kind].toSorted().at(-1)?.slice(0, 10) ?? []).sort()) ?? null
    return {
      ...{ listing: dayOf('listing'), seed: dayOf('seed'), probe: dayOf('probe') },
      ...{ price: dayOf('price'), payments: dayOf('payments') },
      reported_use: dayOf('reported_use'),
    }
  }
  const newest = pick((sorted) => sorted.at(-1))
  const updated = Object.values(newest).reduce<string>(
    (last, day) => (day !== null && day > last ? day : last),
    '1970-01-01',
  )
  return { updated, newest, median: pick((sorted) => sorted[Math.floor(sorted.length / 2)]) }
}

/** Counts listings by key, sorted. @example countBy(listings, (l) => [l.facts.kind]) → Map { 'kit' → 1 } */
function countBy(
  listings: readonly DerivedListing[],
  keysOf: (listing: DerivedListing) => readonly string[],
): Map<string, number> {
  const counts = new Map<string, number>()
  for (const listing of listings)
    for (const key of keysOf(listing)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

type Judged = Pick<DerivedListing, 'facts' | 'evidence' | 'surface'>
type Judge = (listing: Judged) => boolean

/** Kinds of access for which a listing must document where to get the credential. */
const NEEDS_DOCS = new Set(['api_key', 'bearer', 'oauth', 'other'])

const isHttp: Judge = ({ facts }) => facts.kind === 'http_api'
const hasOperations: Judge = ({ surface }) => surface.operations.length > 0

/** The qualities of listings, most wanted first: whether each concerns a listing, and whether the listing has it. */
const QUALITIES: readonly (readonly [name: string, concerns: Judge, has: Judge])[] = [
  ['price', isHttp, ({ facts }) => facts.pricing.model !== 'unknown'],
  [
    'payout',
    (listing) => isHttp(listing) && listing.facts.pricing.model === 'per_call',
    ({ facts, evidence: { interface: seen } }) =>
      facts.payout.length > 0 || (seen?.payouts ?? []).length > 0,
  ],
  [
    'operations',
    isHttp,
    (listing) => hasOperations(listing) && listing.surface.operations.every(isDescribed),
  ],
  // No fact about the listing's operations is a guess.
  [
    'no_guess',
    (listing) => isHttp(listing) && hasOperations(listing),
    ({ surface }) => surface.operations.every(({ assumed = [] }) => assumed.length === 0),
  ],
  // Each of the listing's operations describes its answer.
  [
    'response',
    (listing) => isHttp(listing) && hasOperations(listing),
    ({ surface }) => surface.operations.every(isAnswerDescribed),
  ],
  ['tools', ({ facts }) => facts.kind === 'mcp_server', ({ surface }) => surface.tools.length > 0],
  ['skills', ({ facts }) => facts.kind === 'a2a_agent', ({ surface }) => surface.skills.length > 0],
  [
    'auth_docs',
    ({ facts }) => NEEDS_DOCS.has(facts.auth.type),
    ({ facts }) => 'docs' in facts.auth && facts.auth.docs !== undefined,
  ],
  [
    'evidence',
    ({ facts }) => facts.kind !== 'kit',
    ({ evidence }) => Object.keys(evidence).length > 0,
  ],
]

/** Whether an operation's input has a schema, and its required values an example. */
function isDescribed({ method, params = [], body }: Operation): boolean {
  const isFilled = params.every(
    ({ schema, required, example }) =>
      schema !== undefined && (required !== true || example !== undefined),
  )
  if (method === 'GET' || method === 'DELETE') return isFilled
  return isFilled && body?.schema !== undefined && body.example !== undefined
}

/** Whether an operation's answer is described; a media type other than JSON is enough. */
function isAnswerDescribed({ response }: Operation): boolean {
  if (response === undefined) return false
  const { schema, example } = response
  return schema !== undefined || example !== undefined || !isJsonPayload(response)
}

/** @example countQuality([…]) → [{ kind: 'mcp_server', listings: 380, have: { tools: { has: 261, of: 380 }, … } }] */
export function countQuality(listings: readonly Judged[]): StatsView['quality'] {
  const byKind = [...Map.groupBy(listings, ({ facts }) => facts.kind)]
  return byKind
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, own]) => {
      const have = QUALITIES.flatMap(([name, concerns, has]) => {
        const concerned = own.filter(concerns)
        const counts = { has: concerned.filter(has).length, of: concerned.length }
        return counts.of === 0 ? [] : [[name, counts] as const]
      })
      return { kind, listings: own.length, have: Object.fromEntries(have) }
    })
}

/** Pages at a fixed address that are offered to search engines. */
export const FIXED_PAGES = [
  '/',
  '/badges',
  '/business-model',
  '/changes',
  '/compare',
  '/docs',
  ...DOCS_GROUPS.map(({ slug }) => docsPath(slug)),
  '/keys',
  '/market',
  '/not-listed',
  '/privacy',
  '/problems',
  '/roadmap',
  '/sellers',
  '/sources',
  '/stats',
  '/tasks',
  '/trust',
] as const

/** All valid `GET` paths outside the interface, with `*` for an id. */
export const PAGE_TEMPLATES: readonly string[] = [
  ...FIXED_PAGES,
  '/report',
  '/search',
  '/sellers/check',
  '/sellers/dashboard',
  '/sellers/sign-in',
  '/openapi.json',
  '/feed.atom',
  '/feed.json',
  '/opensearch.xml',
  '/robots.txt',
  '/sitemap.xml',
  ...[pagePath, badgePath, badgeDataPath, comparePath, kindPath, categoryPath, taskPath].map(
    (toPath) => toPath('*'),
  ),
  '/problems/*',
]
