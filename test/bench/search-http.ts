/** Searches a second through HTTP on one core, the bytes of each, and the memory of the whole function. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { SEARCH_WORDS } from '../search/search-samples.ts'
import { createFreshQueries } from './fresh-queries.ts'
import { load, percentile } from './http-load.ts'
import { createListingSource, readListings } from './listing-source.ts'
import { type Contender, startScript } from './relay/contenders.ts'

const CONNECTIONS = 32
/** Requests before the clock runs, and then with it; memory is read after each. */
const WARM_UP = [1000, 9000]
const REQUESTS = 10_000
/** One after another, for percentiles of what one caller waits. */
const ALONE = 5000
/** Answers that the ceiling sends in turn: 15 MB, more than a processor keeps near. */
const KEPT_BODIES = 512
/** Of the queries that were asked before. */
const ASKED_AGAIN = 50

/**
 * How `search-http-server.ts` searches, and what it is asked. Most searches of a day are new: no query
 * that is asked as a new one is asked twice. Each is held against bodies of the same size that are
 * there already, sent in the same coding: all that is left of a compressed one is to compress it, each
 * time anew.
 */
const RUNS: readonly Run[] = [
  { mode: 'fixed', name: 'bodies that are there already', isFresh: false },
  { mode: 'served', name: 'queries never asked before', isFresh: true, share: 0.15 },
  { mode: 'served', name: 'queries asked before', isFresh: false },
  ...['br', 'gzip'].flatMap((coding): Run[] => [
    { mode: 'fixed', name: `bodies that are there already, ${coding}`, isFresh: false, coding },
    { mode: 'served', name: `never asked before, ${coding}`, isFresh: true, coding, share: 0.5 },
  ]),
]

interface Run {
  mode: 'fixed' | 'served'
  name: string
  isFresh: boolean
  coding?: string | undefined
  /** Of the ceiling, at least. */
  share?: number | undefined
}

const sizes = process.argv.slice(2).map(Number)
for (const size of sizes.length > 0 ? sizes : [15_000, 100_000]) await benchHttp(size)

async function benchHttp(size: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'search-http-'))
  const file = join(folder, 'search.index')
  const documents = createListingSource(size).listings()
  writeFileSync(file, buildSearchIndex(documents, { words: SEARCH_WORDS }))
  const count = WARM_UP.reduce((sum, n) => sum + n, REQUESTS + ALONE)
  const real = readListings()
  const fresh = createFreshQueries(real, count).map(toPath)
  const queries = join(folder, 'queries')
  writeFileSync(queries, createFreshQueries(real, KEPT_BODIES).join('\n'))
  let ceiling = 0
  for (const { mode, name, isFresh, coding, share } of RUNS) {
    const server = await startScript(name, '../search-http-server.ts', file, 0, mode, queries)
    const each = await measure(server, `${size} listings, ${name}`, {
      paths: isFresh ? fresh : fresh.slice(0, ASKED_AGAIN),
      ...{ coding, ceiling: mode === 'fixed' ? 0 : ceiling },
      share: size < 20_000 ? share : undefined,
    })
    if (mode === 'fixed') ceiling = each
    server.stop()
  }
  rmSync(folder, { recursive: true })
}

function toPath(q: string): string {
  return `/api/v1/search?q=${encodeURIComponent(q)}`
}

/** @returns searches a second of CPU time */
async function measure(
  { port, cpu, memory }: Contender,
  name: string,
  { paths, ceiling, coding, share }: Partial<Run> & { paths: readonly string[]; ceiling: number },
): Promise<number> {
  const requested = { connections: CONNECTIONS, ...(coding !== undefined && { coding }) }
  const resident = [memory()]
  let from = 0
  /** The next of them: whoever has more than are asked here is asked none twice. */
  const next = (requests: number) => {
    const some = Array.from({ length: requests }, (_, n) => paths[(from + n) % paths.length] ?? '')
    from += requests
    return some
  }
  for (const requests of WARM_UP) {
    await load(port, next(requests), { ...requested, requests })
    resident.push(memory())
  }
  const before = cpu()
  const many = await load(port, next(REQUESTS), { ...requested, requests: REQUESTS })
  const cpuSeconds = cpu() - before
  resident.push(memory())
  const alone = await load(port, next(ALONE), { ...requested, connections: 1, requests: ALONE })
  const each = many.answers / cpuSeconds
  const line = [
    name.padEnd(50),
    `${Math.round(each).toLocaleString('en')}/s a core (CPU time)`,
    ...(ceiling > 0 ? [`${(each / ceiling).toFixed(2)} of the ceiling`] : []),
    `${Math.round(many.answers / many.seconds).toLocaleString('en')}/s by the clock`,
    `p50 ${percentile(alone.latencies, 0.5).toFixed(2)} ms, p99 ${percentile(alone.latencies, 0.99).toFixed(2)} ms of ${ALONE} one by one`,
    `${(many.bytes / many.answers / 1024).toFixed(1)} KiB each`,
    `${resident.map((mb) => mb.toFixed(0)).join('/')} MiB resident (idle, after 1,000, 10,000, 20,000)`,
    `${many.failures + alone.failures} not 200`,
  ]
  console.log(line.join(' · '))
  if (share !== undefined)
    console.log(
      `${each >= share * ceiling ? 'holds' : 'FAILS'}: ${(each / ceiling).toFixed(2)} of the ceiling, at least ${share}`,
    )
  return each
}
