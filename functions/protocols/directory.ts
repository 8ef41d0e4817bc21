import type { KitView } from '../../src/domain/kit/kit-view.ts'
import type { CompactResponse } from '../../src/domain/search/search-response.ts'
import type { ListingView } from '../../src/domain/views/listing-view.ts'
import type { StatsView } from '../../src/domain/views/reference-views.ts'
import { kitPath, listingPath } from '../../src/domain/wire/links.ts'
import type { ClickSource } from '../../src/domain/wire/vocabulary.ts'
import { readId } from '../../src/search/index/index-file.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import type { Parts } from '../features/feature.ts'
import { currentId, type Release, readBuilt, toUnknownText } from '../release/release.ts'
import { createComparison, createPlanTask } from '../search/endpoints.ts'
import { createFindOperations } from '../search/find-operations.ts'
import { createReleaseSearch, type SearchParts } from '../search/search-routes.ts'

/** Parameters for `GET /api/v1/search`, not parsed yet; undefined ones are ignored. */
export type SearchQueryText = Record<string, string | number | boolean | undefined>

export type DirectoryParts = SearchParts & Pick<Parts, 'release'>

export type Directory = ReturnType<typeof createDirectory>

/** The one service behind every protocol: the same query gives the same listings everywhere. */
export function createDirectory(parts: DirectoryParts, src: ClickSource) {
  const search = createReleaseSearch(parts, src)
  const findOperations = createFindOperations(parts)
  const planTask = createPlanTask(parts)
  const read = <View>(path: string) => readBuilt<View>(parts.release(), path)
  // Only a listing's id becomes part of a file's address, so no id can lead to another file.
  const readOf = async <View>(toPath: (id: string) => string, requested: string) => {
    const id = currentId(parts.release(), requested)
    return parts.release().listings.has(id) ? read<View>(toPath(id)) : null
  }
  return {
    compare: createComparison(parts),
    /** Operations for a task; takes the same parameters as `GET /api/v1/operations`. */
    findOperations: (parameters: SearchQueryText) => findOperations(toQueryText(parameters)),
    /** Sellers for a task; takes the input's members and the filters of `GET /api/v1/tasks/<id>/plan`. */
    plan: (task: string, { input, ...filters }: PlanRequested) =>
      planTask(task, new URLSearchParams(toQueryText({ ...toTexts(input), ...filters }))),
    search(parameters: SearchQueryText) {
      const reply = search(toQueryText({ ...parameters, view: 'compact' }))
      if (reply.status !== 200) return { problems: reply.problems }
      // JSON.parse returns `any`; our own search wrote these bytes.
      const answer: CompactResponse = JSON.parse(new TextDecoder().decode(reply.body))
      const { total, results: rows, notes, suggested } = answer
      return { total, rows, notes, ...(suggested !== undefined && { suggested }) }
    },
    /** The full listing as `GET /api/v1/listings/<id>` serves it; null if no listing has or had the id. */
    listing: (id: string) => readOf<ListingView>(listingPath, id),
    kit: (id: string) => readOf<KitView>(kitPath, id),
    toUnknownText: (id: string) => toUnknownText(parts.release(), id),
    facets: async () => toFacets(await read<StatsView>('/api/v1/stats')),
  }
}

/**
 * Ids of the listings that a text finds, the best first; without words all ids, the most trusted
 * first. Nothing is counted as shown here: the endpoint reports what it shows.
 */
export function findIds({ search }: Pick<Release, 'search'>, text: string, most: number): string[] {
  const q = text.toWellFormed().trim()
  const limit = Math.max(1, Math.min(most, search.organicRows))
  const { organic } = searchIndex(search, { ...(q !== '' && { q }), limit, offset: 0 })
  return organic.rows.map(({ row }) => readId(search, row))
}

interface PlanRequested {
  input: Readonly<Record<string, unknown>>
  max_price_usd?: number | undefined
  rail?: string | undefined
  network?: string | undefined
  limit?: number | undefined
}

/** Lists and objects become JSON, as in a plan's query. */
function toTexts(input: Readonly<Record<string, unknown>>): SearchQueryText {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}

function toFacets(stats: StatsView | null) {
  if (stats === null) throw new Error('the release has no /api/v1/stats')
  const { listings } = stats
  const counts = (byId: Record<string, number>) =>
    Object.entries(byId).map(([id, count]) => ({ id, count }))
  return {
    total: listings.total,
    kinds: counts(listings.by_kind),
    categories: counts(listings.by_category),
    rails: counts(listings.by_rail),
    sources: counts(listings.by_source),
  }
}

/** @example toQueryText({ q: 'web search', limit: 5, kind: undefined }) → 'q=web+search&limit=5' */
function toQueryText(parameters: SearchQueryText): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return new URLSearchParams(given).toString()
}
