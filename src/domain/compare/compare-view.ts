import * as v from 'valibot'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import { link, prose, type SiteTexts, type SourceRow } from '../derived/tables.ts'
import { lowestPriceOf, railsOf, toCostText } from '../listing/pricing.ts'
import { compareBrowsing, type RankFacts } from '../search/search-rank.ts'
import { needsNoAccount } from '../tasks/filled-request.ts'
import type { Demand } from '../trust/ledger-facts.ts'
import { sourceIdsOf } from '../views/listing-view.ts'
import { comparePath } from '../wire/links.ts'
import { CalendarDateSchema, textLike } from '../wire/shapes.ts'
import { cutText } from '../wire/text.ts'
import { hasRemoteEndpoint, KIND_LABELS, RAILS } from '../wire/vocabulary.ts'

/** `content/compare/<slug>.yaml`: a comparison page's listings, and the text about them. */
const FOCUSES = ['dedicated', 'broad'] as const

export const CompareFactsSchema = v.strictObject({
  title: v.pipe(prose, v.maxLength(120, 'expected at most 120 characters')),
  updated: CalendarDateSchema,
  first_party: v.optional(v.array(v.string()), []),
  facts: v.optional(v.nullable(v.array(v.strictObject({ text: prose, url: link }))), null),
  sections: v.pipe(
    v.array(
      v.strictObject({
        id: textLike(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'expected a lower-case id such as search-apis'),
        title: prose,
        note: prose,
        /** Every listing that does this task without an account is a row. */
        task: v.optional(v.string()),
        rows: v.optional(
          v.array(
            v.strictObject({
              id: v.string(),
              focus: v.picklist(FOCUSES, 'expected "dedicated" or "broad"'),
            }),
          ),
          [],
        ),
      }),
    ),
    v.minLength(1, 'expected at least one section'),
  ),
  citations: v.optional(v.array(v.strictObject({ label: prose, url: link })), []),
  disclosure: v.optional(prose),
  ranking: v.optional(prose),
})

export type CompareFacts = v.InferOutput<typeof CompareFactsSchema>

/** Longest summary in a row; the listing's page has the whole summary. */
const MAX_ROW_SUMMARY = 120

/** spec: Comparison page row. Unknown numbers are null, not zero. */
export const CompareRowSchema = v.object({
  id: v.string(),
  name: v.string(),
  kind: v.string(),
  summary: v.string(),
  price: v.string(),
  min_usd: v.nullable(v.number()),
  rails: v.array(v.picklist(RAILS)),
  trust: v.nullable(v.number()),
  buyers: v.nullable(v.number()),
  settlements: v.nullable(v.number()),
  uptime: v.nullable(v.number()),
  remote: v.boolean(),
  shared_payout: v.boolean(),
  source: v.string(),
  focus: v.optional(v.picklist(FOCUSES)),
})
export type CompareRow = v.InferOutput<typeof CompareRowSchema>

export function toCompareRow(
  listing: DerivedListing,
  sources: ReadonlyMap<string, SourceRow>,
): CompareRow {
  const { id, facts, trust, signals } = listing
  const measured = trust.evidence === 'no_payment_data' ? null : trust.measured
  return {
    id,
    name: facts.name,
    kind: KIND_LABELS[facts.kind],
    summary: cutText(facts.summary, MAX_ROW_SUMMARY),
    price: toCostText(facts),
    min_usd: lowestPriceOf(facts.pricing),
    rails: [...railsOf(facts.pricing)],
    trust: trustScoreOf(trust),
    // A buyer may be counted as a fraction; rows show whole numbers.
    buyers: measured && Math.round(measured.verified_buyers_30d),
    settlements: measured && Math.round(measured.settlements_30d),
    uptime: signals.uptime_30d ?? null,
    remote: hasRemoteEndpoint(facts),
    shared_payout: measured?.shared_payout ?? false,
    source: sourceIdsOf(listing)
      .map((source) => sources.get(source)?.name ?? source)
      .join(', '),
  }
}

type Ranked = Pick<CompareRow, 'id' | 'trust' | 'buyers' | 'remote' | 'min_usd'> &
  Pick<RankFacts, 'tasks'>

/** spec: trust desc, verified buyers desc, remote, has a listed price, lowest price; then the id, in lists after tasks. */
export function compareRows(a: Ranked, b: Ranked): number {
  return compareBrowsing(toRankFacts(a), toRankFacts(b))
}

function toRankFacts({ id, trust, buyers, remote, min_usd, tasks }: Ranked): RankFacts {
  return { id, trustScore: trust, verifiedBuyers: buyers ?? -1, remote, minUsd: min_usd, tasks }
}

/** A page with fewer rows is thin: shown, but not offered to search engines. */
const MIN_ROWS = 3

/** spec: Comparison page record. */
export const CompareSchema = v.object({
  slug: v.string(),
  type: v.literal('compare'),
  title: v.string(),
  url: v.string(),
  updated: v.string(),
  indexable: v.boolean(),
  thin_reason: v.nullable(v.string()),
  disclosure: v.string(),
  ranking: v.string(),
  demand_90d: v.object({ all: v.number(), outside: v.number() }),
  facts: v.nullable(v.array(v.object({ text: v.string(), url: v.string() }))),
  first_party: v.array(CompareRowSchema),
  sections: v.array(
    v.object({
      id: v.string(),
      title: v.string(),
      note: v.string(),
      /** The task that the section's listings do. */
      task: v.optional(v.string()),
      rows: v.array(CompareRowSchema),
    }),
  ),
  citations: v.array(v.object({ label: v.string(), url: v.string() })),
})
export type CompareView = v.InferOutput<typeof CompareSchema>

/** `GET /api/v1/compare?ids=`: a comparison of listings that the caller chooses. */
export const ChosenComparisonSchema = v.object({
  ...CompareSchema.entries,
  slug: v.null(),
  indexable: v.literal(false),
})

const ComparePageSchema = v.pick(CompareSchema, ['slug', 'title', 'url', 'updated', 'indexable'])
export const CompareListSchema = v.object({ pages: v.array(ComparePageSchema) })

interface CompareContext {
  baseUrl: string
  site: SiteTexts
  sources: ReadonlyMap<string, SourceRow>
  listings: ReadonlyMap<string, DerivedListing>
  /** Which listings do each task at what price, the best offer first. */
  tasks: readonly {
    id: string
    offers: readonly { listing: { id: string }; usd: number | null }[]
  }[]
  demand: ReadonlyMap<string, Demand>
}

/**
 * Unknown ids are left out; `check` reports them. First-party listings are separate and unranked.
 * In a section about one task, a row's price is the task's, not any other call's.
 */
export function toCompareView(
  slug: string,
  facts: CompareFacts,
  context: CompareContext,
): CompareView {
  const rowsOf = (ids: readonly string[], firstParty: boolean) =>
    ids.flatMap((id) => {
      const listing = context.listings.get(id)
      if (listing === undefined || listing.facts.first_party !== firstParty) return []
      return [toCompareRow(listing, context.sources)]
    })
  const sections = facts.sections.map(({ id, title, note, task, rows }) => {
    const doing = task === undefined ? [] : rowsOfTask(task, context.listings.values())
    const focus = new Map([...doing, ...rows].map((row) => [row.id, row.focus]))
    const { offers = [] } = context.tasks.find((each) => each.id === task) ?? {}
    const usd = new Map(offers.toReversed().map((offer) => [offer.listing.id, offer.usd]))
    const placed = rowsOf([...focus.keys()], false).map((row) => ({
      ...row,
      ...(task !== undefined && { min_usd: usd.get(row.id) ?? null }),
      focus: focus.get(row.id) ?? ('broad' as const),
    }))
    const sorted = placed.sort(compareRows)
    return { id, title, note, ...(task !== undefined && { task }), rows: sorted }
  })
  const ids = new Set(sections.flatMap((section) => section.rows.map((row) => row.id)))
  const isThin = ids.size < MIN_ROWS
  return {
    slug,
    type: 'compare',
    title: facts.title,
    url: `${context.baseUrl}${comparePath(slug)}`,
    updated: facts.updated,
    indexable: !isThin,
    thin_reason: isThin ? `fewer than ${MIN_ROWS} listings to compare` : null,
    disclosure: facts.disclosure ?? context.site.disclosure,
    ranking: facts.ranking ?? context.site.comparison_ranking,
    demand_90d: sumDemand(ids, context.demand),
    facts: facts.facts,
    first_party: rowsOf([...new Set(facts.first_party)], true),
    sections,
    citations: facts.citations,
  }
}

/** Listings that do a task without an account; `dedicated` if at least half of their operations do it. */
function rowsOfTask(
  task: string,
  listings: Iterable<DerivedListing>,
): CompareFacts['sections'][number]['rows'] {
  return [...listings].flatMap(({ id, facts, surface }) => {
    const doing = surface.operations.filter((operation) => operation.task === task).length
    if (doing === 0 || !needsNoAccount(facts.auth)) return []
    return [{ id, focus: doing * 2 >= surface.operations.length ? 'dedicated' : 'broad' } as const]
  })
}

export function toCompareList(
  pages: readonly CompareView[],
): v.InferOutput<typeof CompareListSchema> {
  return { pages: pages.map((page) => v.parse(ComparePageSchema, page)) }
}

function sumDemand(ids: ReadonlySet<string>, demand: ReadonlyMap<string, Demand>): Demand {
  const sum = { all: 0, outside: 0 }
  for (const id of ids) {
    const own = demand.get(id)
    sum.all += own?.all ?? 0
    sum.outside += own?.outside ?? 0
  }
  return sum
}
