/**
 * Our search beside stock Orama, MiniSearch and SQLite FTS5, on the directory's own listings and on synthetic
 * ones with the same text statistics, and on 100,000 operations.
 * `node test/bench/search.ts [15000 100000 1000000 operations]`
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { readOperationDocuments } from '../support/own-catalogue.ts'
import { ENGINES } from './engines/load-engine.ts'
import { createFreshQueries } from './fresh-queries.ts'
import { readListings } from './listing-source.ts'

const DEFAULT_SIZES = ['15000', '100000', 'operations', '1000000']
/** Beyond this the two that keep everything in JavaScript objects need more memory than most have. */
const OBJECT_ENGINES_UP_TO = 100_000

/** Where ours is held against the others, and where it stands alone. */
const PEERS_AT = 100_000
const LARGE = 1_000_000

const BuiltSchema = v.object({
  makeMs: v.number(),
  buildMs: v.number(),
  indexBytes: v.number(),
  buildRssMb: v.number(),
})
const ServedSchema = v.object({
  loadMs: v.number(),
  firstAnswerMs: v.number(),
  p50: v.number(),
  p99: v.number(),
  slowest: v.string(),
  rssMb: v.number(),
})
type Measured = v.InferOutput<typeof BuiltSchema> &
  v.InferOutput<typeof ServedSchema> & { fileBytes: number }

/** Each is asked once, so that a hundredth of them is ten; of a peer that takes a tenth of a second, two. */
const QUERIES = { few: 200, many: 1_000 }

const requested = process.argv.slice(2)
for (const size of requested.length > 0 ? requested : DEFAULT_SIZES)
  if (size === 'operations') bench(PEERS_AT, 'operations', ['waypost', 'fts5'])
  else bench(Number(size), 'listings', ENGINES)

function bench(size: number, what: 'listings' | 'operations', engines: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'search-bench-'))
  const requested = createFreshQueries(
    what === 'listings'
      ? readListings()
      : readOperationDocuments().map(({ texts }) => toNamed(texts)),
    QUERIES.many,
  )
  const queriesFor = (engine: string) => {
    const isSlow = size >= PEERS_AT && (engine === 'orama' || engine === 'minisearch')
    const file = join(folder, `${engine}.json`)
    writeFileSync(file, JSON.stringify(requested.slice(0, isSlow ? QUERIES.few : QUERIES.many)))
    return file
  }
  const load = loadavg()[0]?.toFixed(1)
  console.log(`\n${size.toLocaleString('en')} ${what} (load average ${load} at the start)`)
  const measured = new Map<string, Measured>()
  for (const engine of engines) {
    if (size > OBJECT_ENGINES_UP_TO && (engine === 'orama' || engine === 'minisearch')) {
      console.log(`${engine}: skipped above ${OBJECT_ENGINES_UP_TO.toLocaleString('en')} listings`)
      continue
    }
    const file = join(folder, engine)
    const built = v.parse(BuiltSchema, run('build', engine, size, what, file))
    const served = v.parse(ServedSchema, run('serve', engine, size, what, file, queriesFor(engine)))
    measured.set(engine, { ...built, ...served, fileBytes: statSync(file).size })
  }
  rmSync(folder, { recursive: true })
  printTable(measured)
  printBounds(size, measured)
}

/** An operation as queries are made of listings. */
function toNamed(texts: SearchDocument['texts']) {
  const { name = [], labels = [], summary = [] } = texts ?? {}
  return { name: name.join(' '), tags: labels, summary: summary.join(' ') }
}

/** What the search promises, beside what was measured. */
function printBounds(size: number, measured: ReadonlyMap<string, Measured>): void {
  const own = measured.get('waypost')
  if (own === undefined) return
  const tell = (what: string, found: number, bound: number, isMost: boolean) => {
    const holds = isMost ? found <= bound : found >= bound
    const side = isMost ? 'at most' : 'at least'
    console.log(`${holds ? 'holds' : 'FAILS'}: ${what} ${found.toFixed(2)}, ${side} ${bound}`)
  }
  for (const [engine, times] of [
    ['fts5', 15],
    ['orama', 100],
  ] as const) {
    const peer = measured.get(engine)
    if (size === PEERS_AT && peer !== undefined)
      tell(`p99 of ${engine} over ours`, peer.p99 / own.p99, times, false)
  }
  if (size <= PEERS_AT) tell('load, ms', own.loadMs, 50, true)
  if (size >= LARGE) {
    tell('p99, ms', own.p99, 20, true)
    tell('file, GB', own.fileBytes / 1e9, 0.8, true)
  }
}

function run(stage: string, engine: string, size: number, ...files: string[]): unknown {
  const memory = '--max-old-space-size=12000'
  const script = join(import.meta.dirname, 'search-stage.ts')
  const args = stage === 'build' ? [memory] : []
  const output = execFileSync(
    process.execPath,
    [...args, script, stage, engine, String(size), ...files],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 20 },
  )
  return JSON.parse(output)
}

function printTable(measured: ReadonlyMap<string, Measured>): void {
  const own = measured.get('waypost')
  if (own === undefined) return
  console.table(
    Object.fromEntries(
      [...measured].map(([engine, row]) => [
        engine,
        {
          'documents s': (row.makeMs / 1000).toFixed(1),
          'build s': (row.buildMs / 1000).toFixed(1),
          'build MiB': row.buildRssMb,
          'index MB': (row.indexBytes / 1e6).toFixed(1),
          'file MB': (row.fileBytes / 1e6).toFixed(1),
          'load ms': row.loadMs.toFixed(1),
          'first answer ms': row.firstAnswerMs.toFixed(0),
          'RSS MiB': row.rssMb,
          'p50 ms': row.p50.toFixed(3),
          'p99 ms': row.p99.toFixed(3),
          slowest: row.slowest.slice(0, 24),
          'p50 ×': ratio(row.p50, own.p50),
          'p99 ×': ratio(row.p99, own.p99),
          'bytes ×': ratio(row.indexBytes, own.indexBytes),
          'load ×': ratio(row.loadMs, own.loadMs),
        },
      ]),
    ),
  )
}

function ratio(other: number, own: number): string {
  return (other / own).toFixed(1)
}
