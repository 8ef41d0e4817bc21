import type { TaskView } from '../../domain/plans/task-plan.ts'
import { splitText } from '../../search/words/split-text.ts'
import { createTaskReader, type TaskReader } from '../../search/words/task-words.ts'
import {
  INDEX_FACET,
  NOT_IN_INDEX,
  type PageMeta,
  toIndexFacets,
  toIndexFilters,
  toIndexRow,
} from './page-index.ts'
import type { SearchResults } from './search-answer.ts'
import type { SearchForm } from './search-form.ts'

/** The part of Pagefind's browser interface that is used. */
interface Found {
  results: IndexResult<{ meta: PageMeta }>[]
  filters: Partial<Record<typeof INDEX_FACET, Record<string, number>>>
}
interface Pagefind {
  options(options: { basePath: string }): Promise<void>
  init(): Promise<void>
  mergeIndex(path: string): Promise<void>
  filters(): Promise<unknown>
  search(
    words: string | null,
    options: {
      filters: Record<string, readonly string[]>
      sort?: Record<string, 'asc'>
    },
  ): Promise<Found>
}

/** Written by the build next to the pages: the indexes; the first has the code that reads all. */
const FOLDER = '/pagefind'
let loading: Promise<Pagefind> | undefined
let tasks: Promise<{ list: TaskView[]; read: TaskReader }> | undefined

/** Search without a function: indexes that are read in the browser. @throws where there are none */
export async function askIndex(form: SearchForm, limit: number): Promise<SearchResults> {
  loading ??= load()
  const pagefind = await loading
  const { filters, left } = toIndexFilters(form)
  // Without words every page matches alike: the order is the directory's own, by trust.
  const isRanked = form.q !== undefined && form.sort !== 'trust'
  const ask = (asked: readonly string[]) =>
    pagefind.search(form.q ?? null, {
      filters: asked.length === 0 ? {} : { [INDEX_FACET]: asked },
      ...(!isRanked && { sort: { order: 'asc' } }),
    })
  const found = await ask(filters)
  const shown = isRanked
    ? await Promise.all(found.results.slice(0, limit).map((result) => result.data()))
    : await readFirst(found.results, limit, ({ meta }) => `${meta.order}${meta.id}`)
  const counts = await countChoices(found, filters, ask)
  const sort = form.sort === undefined || form.sort === 'trust' ? [] : ['sort']
  return {
    kind: 'results',
    total: found.results.length,
    offset: 0,
    rows: shown.map(({ meta }) => toIndexRow(meta)),
    own: [],
    notes: [
      NOT_IN_INDEX,
      ...[...left, ...sort].map((name) => `This index does not know ${name}, so it was left out.`),
    ],
    tasks: await findTasks(form.q),
    facets: toIndexFacets(counts),
  }
}

/** The row of the task that the words name, from the list that the build wrote. */
async function findTasks(q = ''): Promise<SearchResults['tasks']> {
  tasks ??= fetch('/api/v1/tasks/index.json').then(async (answer) => {
    // Typed `any`: of the same release as this script.
    const list: { tasks: TaskView[] } = answer.ok ? await answer.json() : { tasks: [] }
    return { list: list.tasks, read: createTaskReader(list.tasks) }
  })
  const { list, read } = await tasks
  const id = read(splitText(q), () => false)
  return list.filter((task) => task.id === id && task.sellers > 0)
}

type Ask = (filters: readonly string[]) => Promise<Found>

/** A filter's own counts ignore that filter: they show what another choice would give. */
async function countChoices(found: Found, filters: readonly string[], ask: Ask) {
  let counts = toCounts(found)
  for (const filter of filters) {
    const own = filter.slice(0, filter.indexOf(':') + 1)
    const others = await ask(filters.filter((other) => other !== filter))
    counts = [
      ...counts.filter(([value]) => !value.startsWith(own)),
      ...toCounts(others).filter(([value]) => value.startsWith(own)),
    ]
  }
  return Object.fromEntries(counts)
}

function toCounts({ filters }: Found): [string, number][] {
  return Object.entries(filters[INDEX_FACET] ?? {})
}

async function load(): Promise<Pagefind> {
  // A dynamic import of a foreign module is untyped; this is its documented shape.
  const loaded: Promise<Pagefind> = import(/* @vite-ignore */ `${FOLDER}/0/pagefind.js`)
  const [pagefind, answer] = await Promise.all([loaded, fetch(`${FOLDER}/indexes.json`)])
  const { count }: { count: number } = await answer.json()
  await pagefind.options({ basePath: `${FOLDER}/0/` })
  await pagefind.init()
  const others = Array.from({ length: count - 1 }, (_, i) => `${FOLDER}/${i + 1}/`)
  await Promise.all(others.map((path) => pagefind.mergeIndex(path)))
  // Filters are loaded on their own; without them no filter matches anything.
  await pagefind.filters()
  return pagefind
}

/** A result of one of several indexes; each sorts its own. */
interface IndexResult<Data> {
  /** The sort key, or else the position among the results of its own index. */
  score: number
  data(): Promise<Data>
}

/**
 * The first results of several sorted indexes together. What a result is sorted by is known once
 * its data is read, so as many of each index are read as it takes: no unread result may come before
 * the last one shown.
 *
 * @param results of all indexes, each sorted by `orderOf`
 */
export async function readFirst<Data>(
  results: readonly IndexResult<Data>[],
  limit: number,
  orderOf: (data: Data) => string,
): Promise<Data[]> {
  // The first of each index, then the second, and so on.
  const inTurn = results.toSorted((a, b) => b.score - a.score)
  for (let wanted = limit; ; wanted *= 2) {
    const lowest = inTurn[Math.min(wanted, inTurn.length) - 1]?.score ?? 0
    const read = inTurn.filter(({ score }) => score >= lowest)
    const rows = await Promise.all(
      read.map(async ({ score, data }) => {
        const read = await data()
        return { score, read, order: orderOf(read) }
      }),
    )
    const sorted = rows.toSorted((a, b) => (a.order < b.order ? -1 : 1))
    // The last one read of an index comes before all unread ones.
    const end = sorted.findIndex(({ score }) => score === lowest)
    if (end + 1 >= limit || read.length === inTurn.length)
      return sorted.slice(0, limit).map(({ read }) => read)
  }
}
