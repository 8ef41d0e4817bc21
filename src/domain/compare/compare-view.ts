import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import type { SourceRow } from '../derived/source-table.ts'
import type { SiteTexts } from '../derived/tables.ts'
import { needsNoAccount } from '../tasks/filled-request.ts'
import type { Demand } from '../trust/ledger-facts.ts'
import { comparePath } from '../wire/links.ts'
import {
  type CompareFacts,
  type CompareRow,
  CompareRowSchema,
  compareRows,
  toCompareRow,
} from './compare-row.ts'

/** Under this many rows a page is thin: shown, but not offered to search engines. */
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
      /** The task that its listings do. */
      task: v.optional(v.string()),
      rows: v.array(CompareRowSchema),
    }),
  ),
  citations: v.array(v.object({ label: v.string(), url: v.string() })),
})
export type CompareView = v.InferOutput<typeof CompareSchema>

/** `GET /api/v1/compare?ids=`: the same record about chosen listings. */
export const ChosenComparisonSchema = v.object({
  ...CompareSchema.entries,
  slug: v.null(),
  indexable: v.literal(false),
})
export type ChosenComparison = v.InferOutput<typeof ChosenComparisonSchema>

const ComparePageSchema = v.pick(CompareSchema, ['slug', 'title', 'url', 'updated', 'indexable'])
export const CompareListSchema = v.object({ pages: v.array(ComparePageSchema) })

export interface CompareContext {
  baseUrl: string
  site: SiteTexts
  sources: ReadonlyMap<string, SourceRow>
  listings: ReadonlyMap<string, DerivedListing>
  demand: ReadonlyMap<string, Demand>
}

/** Unknown ids are left out; `check` reports them. First-party listings are separate, unranked. */
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
    const placed = rowsOf([...focus.keys()], false).map((row) => ({
      ...row,
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

/** Listings that do a task without an account. At least half of one makes it its purpose. */
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

export interface ChosenContext {
  baseUrl: string
  site: Pick<SiteTexts, 'disclosure' | 'comparison_ranking'>
  /** Date of the newest fact. */
  updated: string
  isFirstParty: (id: string) => boolean
}

/** A comparison without an author: one section in the usual order, our own kits separate. */
export function toChosenComparison(
  rows: readonly CompareRow[],
  { baseUrl, site, updated, isFirstParty }: ChosenContext,
): ChosenComparison {
  // No author said that one of them is made for the job.
  const others = rows
    .filter(({ id }) => !isFirstParty(id))
    .map((row) => ({ ...row, focus: 'broad' as const }))
  return {
    slug: null,
    type: 'compare',
    title: rows.map(({ name }) => name).join(', '),
    url: `${baseUrl}/compare?ids=${rows.map(({ id }) => id).join(',')}`,
    updated,
    indexable: false,
    thin_reason: 'listings chosen by a reader',
    disclosure: site.disclosure,
    ranking: site.comparison_ranking,
    demand_90d: { all: 0, outside: 0 },
    facts: null,
    first_party: rows.filter(({ id }) => isFirstParty(id)),
    sections: [
      { id: 'chosen', title: 'Chosen listings', note: '', rows: others.sort(compareRows) },
    ],
    citations: [],
  }
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
