/** The part of Pagefind's browser interface the search page uses. */
type Counts = Record<string, Record<string, number>>

export interface Fragment {
  meta: Record<string, string>
}

export interface Found {
  results: { data(): Promise<Fragment> }[]
  filters: Counts
}

interface SearchOptions {
  filters?: Record<string, string>
  sort?: Record<string, 'asc' | 'desc'>
}

export interface Pagefind {
  init(): Promise<void>
  filters(): Promise<Counts>
  search(query: string | null, options?: SearchOptions): Promise<Found>
}

/** Written by the build beside the pages; not a module of this project. */
const ADDRESS = '/pagefind/pagefind.js'

let loading: Promise<Pagefind> | undefined

/** Loads the index once, when it is first needed. @throws where it cannot be fetched. */
export function loadPagefind(): Promise<Pagefind> {
  loading ??= load()
  return loading
}

async function load(): Promise<Pagefind> {
  // A dynamic import of a foreign module is untyped; this is its documented shape.
  const pagefind: Pagefind = await import(/* @vite-ignore */ ADDRESS)
  await pagefind.init()
  // Filters are loaded on their own; without them no filter matches anything.
  await pagefind.filters()
  return pagefind
}
