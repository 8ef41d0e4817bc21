/**
 * One stage of one engine in a process of its own: `build` writes an index, `serve` opens it.
 * Prints one line of JSON. Started by `search.ts`.
 */
import { readFileSync } from 'node:fs'
import type { Engine } from './engines/engine.ts'
import { loadEngine } from './engines/load-engine.ts'
import { percentile } from './http-load.ts'

const SHOWN = 20
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

const [stage = '', name = '', size = '0', what = '', file = '', queries = ''] =
  process.argv.slice(2)
const engine = await loadEngine(name)
const result = stage === 'build' ? await build(engine) : await serve(engine)
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

async function serve(engine: Engine) {
  const started = performance.now()
  const search = await engine.open(file)
  const loadMs = performance.now() - started
  search('weather forecast', SHOWN)
  const firstAnswerMs = performance.now()
  // What an engine compiles and loads at its first answers is there before anything is timed.
  for (let n = 0; n < 10; n += 1) for (const q of WARM_UP) search(q, SHOWN)
  const asked: string[] = JSON.parse(readFileSync(queries, 'utf8'))
  const timings = asked.map((q) => {
    const begun = performance.now()
    search(q, SHOWN)
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
    rssMb: Math.round(process.memoryUsage().rss / 1024 / 1024),
  }
}
