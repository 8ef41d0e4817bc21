/**
 * One stage of one engine in a process of its own: `build` writes an index, `serve` opens it.
 * Prints one line of JSON. Started by `search.ts`.
 */
import type { Engine } from './engines/engine.ts'
import { SEARCH_QUERIES } from './search-queries.ts'

const LOADERS: Record<string, () => Promise<Engine>> = {
  waypost: async () => (await import('./engines/waypost.ts')).waypost,
  orama: async () => (await import('./engines/orama.ts')).orama,
  minisearch: async () => (await import('./engines/minisearch.ts')).minisearch,
  fts5: async () => (await import('./engines/fts5.ts')).fts5,
}
/** Each query is repeated until this much time is spent on it, but not more often than that. */
const BUDGET_MS = 150
const MAX_RUNS = 40

const [stage = '', name = '', size = '0', file = ''] = process.argv.slice(2)
const load = LOADERS[name]
if (load === undefined) throw new Error(`There is no engine ${name}.`)
const result = stage === 'build' ? await build(await load()) : await serve(load)
console.log(JSON.stringify(result))

async function build(engine: Engine) {
  // Imported here, so that a serving process doesn't pay for the generators.
  const { createListingSource } = await import('./listing-source.ts')
  const source = createListingSource(Number(size))
  const { buildMs, indexBytes } = await engine.build(source.listings(), file)
  return {
    makeMs: source.makeMs(),
    buildMs: buildMs - source.makeMs(),
    indexBytes,
    buildRssMb: Math.round(process.resourceUsage().maxRSS / 1024),
  }
}

async function serve(loadEngine: () => Promise<Engine>) {
  const engine = await loadEngine()
  const started = performance.now()
  const search = await engine.open(file)
  const loadMs = performance.now() - started
  search('weather forecast')
  const firstAnswerMs = performance.now()
  const timings = SEARCH_QUERIES.map((q) => ({ q, ms: timeOf(search, q) }))
  timings.sort((a, b) => a.ms - b.ms)
  const at = (share: number) => timings[Math.ceil(timings.length * share) - 1]
  return {
    loadMs,
    firstAnswerMs,
    p50: at(0.5)?.ms ?? 0,
    p99: at(0.99)?.ms ?? 0,
    slowest: at(1)?.q,
    rssMb: megabytes(process.memoryUsage().rss),
  }
}

/** The median of several runs: a busy machine must not decide which engine looks slow. */
function timeOf(search: (q: string) => number, q: string): number {
  const runs: number[] = []
  const end = performance.now() + BUDGET_MS
  while (runs.length === 0 || (runs.length < MAX_RUNS && performance.now() < end)) {
    const started = performance.now()
    search(q)
    runs.push(performance.now() - started)
  }
  runs.sort((a, b) => a - b)
  return runs[runs.length >> 1] ?? 0
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}
