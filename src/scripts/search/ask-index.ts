import {
  NOT_IN_INDEX,
  type PageMeta,
  toIndexFacets,
  toIndexFilters,
  toIndexRow,
} from '../../domain/pages/search/page-index.ts'
import type { SearchResults } from '../../domain/pages/search/search-answer.ts'
import type { SearchForm } from '../../domain/pages/search/search-form.ts'

/** The part of Pagefind's browser interface that is used. */
interface Found {
  results: { data(): Promise<{ meta: PageMeta }> }[]
  filters: Record<string, Record<string, number>>
}
type Filters = ReturnType<typeof toIndexFilters>['filters']
interface Pagefind {
  init(): Promise<void>
  filters(): Promise<unknown>
  search(
    words: string | null,
    options: { filters: Filters; sort?: Record<string, 'asc'> },
  ): Promise<Found>
}

/** Written by the build beside the pages; not a module of this project. */
const ADDRESS = '/pagefind/pagefind.js'
let loading: Promise<Pagefind> | undefined

/** Search without a function: an index that is read in the browser. @throws where it is not there */
export async function askIndex(form: SearchForm, limit: number): Promise<SearchResults> {
  loading ??= load()
  const pagefind = await loading
  const { filters, left } = toIndexFilters(form)
  const ask = (asked: Filters) => {
    // Without words every page matches alike: the order is the directory's own, by trust.
    const isRanked = form.q !== undefined && form.sort !== 'trust'
    return pagefind.search(form.q ?? null, {
      filters: asked,
      ...(!isRanked && { sort: { rank: 'asc' } }),
    })
  }
  const found = await ask(filters)
  const shown = await Promise.all(found.results.slice(0, limit).map((result) => result.data()))
  const counts = { ...found.filters }
  // A filter's own counts leave that filter out: they say what another choice would give.
  for (const name of Object.keys(filters)) {
    const { [name]: _own, ...others } = filters
    counts[name] = (await ask(others)).filters[name] ?? {}
  }
  const sort = form.sort === undefined || form.sort === 'trust' ? [] : ['sort']
  return {
    kind: 'results',
    total: found.results.length,
    offset: 0,
    rows: shown.map(({ meta }) => toIndexRow(meta)),
    own: [],
    notes: [
      NOT_IN_INDEX,
      ...[...left, ...sort].map((name) => `Not known to it, and left out: ${name}.`),
    ],
    facets: toIndexFacets(counts),
  }
}

async function load(): Promise<Pagefind> {
  // A dynamic import of a foreign module is untyped; this is its documented shape.
  const pagefind: Pagefind = await import(/* @vite-ignore */ ADDRESS)
  await pagefind.init()
  // Filters are loaded on their own; without them no filter matches anything.
  await pagefind.filters()
  return pagefind
}
