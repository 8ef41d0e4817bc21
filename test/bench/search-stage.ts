/**
 * One stage of one engine in a process of its own: `build` writes an index, `serve` opens it.
 * Prints one line of JSON. Started by `search.ts`.
 */
import { readFileSync } from 'node:fs'
import type { Engine } from './engines/engine.ts'
import { percentile } from './http-load.ts'

/** Names, keywords, a task, what is broad and what nobody has. */
const WARM_UP = [
  'github',
  'notoin',
  'vector database',
  'summarise a PDF',
  'a',
  'mcp server',
  'zzqqxx',
]

const LOADERS: Record<string, () => Promise<Engine>> = {
  waypost: async () => (await import('./engines/waypost.ts')).waypost,
  orama: async () => (await import('./engines/orama.ts')).orama,
  minisearch: async () => (await import('./engines/minisearch.ts')).minisearch,
  fts5: async () => (await import('./engines/fts5.ts')).fts5,
}
const [stage = '', name = '', size = '0', what = '', file = '', queries = ''] =
  process.argv.slice(2)
const load = LOADERS[name]
if (load === undefined) throw new Error(`There is no engine ${name}.`)
const result = stage === 'build' ? await build(await load()) : await serve(load)
console.log(JSON.stringify(result))

async function build(engine: Engine) {
  // Imported here, so that a serving process doesn't pay for the generators.
  const { createListingSource } = await import('./listing-source.ts')
  const source = createListingSource(Number(size), what === 'operations' ? what : 'listings')
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
  // What an engine compiles and loads at its first answers is there before anything is timed.
  for (let n = 0; n < 10; n += 1) for (const q of WARM_UP) search(q)
  const requested: string[] = JSON.parse(readFileSync(queries, 'utf8'))
  const timings = requested.map((q) => {
    const begun = performance.now()
    search(q)
    return { q, ms: performance.now() - begun }
  })
  timings.sort((a, b) => a.ms - b.ms)
  const sorted = timings.map(({ ms }) => ms)
  return {
    loadMs,
    firstAnswerMs,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    slowest: timings.at(-1)?.q,
    ...(engine.readTask !== undefined && {
      taskShare: timeOf(requested, engine.readTask(file)) / sumOf(sorted),
    }),
    rssMb: megabytes(process.memoryUsage().rss),
  }
}

/** Of all questions, each once, after as many others. */
function timeOf(requested: readonly string[], read: (q: string) => unknown): number {
  for (const q of requested) read(`${q} again`)
  const begun = performance.now()
  for (const q of requested) read(q)
  return performance.now() - begun
}

function sumOf(times: readonly number[]): number {
  return times.reduce((sum, ms) => sum + ms, 0)
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}
