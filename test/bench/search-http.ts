/** Searches a second through HTTP on one core, and the memory of the whole function. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { buildSearchIndex } from '../../src/search/build-search-index.ts'
import { loadServer } from './http-load.ts'
import { readScaleListings } from './scale-listings.ts'
import { SEARCH_QUERIES } from './search-queries.ts'
import { findSharedDir } from './shared-data.ts'
import { syntheticListings } from './synthetic-listings.ts'

const CONNECTIONS = 32
const WARM_UP = 5000
const REQUESTS = 40_000
const UsageSchema = v.object({ cpuSeconds: v.number(), rssMb: v.number(), loadMs: v.number() })

const shared = findSharedDir()
if (shared === null)
  console.log('bench:search-http skipped: ../shared/data is absent (set SHARED_DIR)')
else for (const size of [15_761, 100_000]) await benchHttp(shared, size)

async function benchHttp(sharedDir: string, size: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'search-http-'))
  const file = join(folder, 'search.index')
  const real = readScaleListings(sharedDir)
  const documents = [...real, ...syntheticListings(real, Math.max(0, size - real.length))]
  writeFileSync(file, buildSearchIndex(documents))
  // The first start fills the compile cache, as a deployed function's is.
  await withServer(folder, file, async () => {})
  await withServer(folder, file, async (port) => {
    const full = SEARCH_QUERIES.filter((q) => q.length > 2).map(toPath)
    await measure(port, `${size} listings, mixed queries`, SEARCH_QUERIES.map(toPath))
    await measure(port, `${size} listings, queries of three letters and more`, full)
    const asked = SEARCH_QUERIES.map((q) => toPath(q).replace('/api/v1/search', '/remembering'))
    await measure(port, `${size} listings, mixed queries asked before`, asked)
    await measure(port, `${size} listings, no query`, ['/api/v1/search?kind=http_api'])
    await measure(port, 'a fixed body of the same size, for comparison', ['/fixed'])
  })
  rmSync(folder, { recursive: true })
}

async function withServer(
  folder: string,
  file: string,
  use: (port: number) => Promise<void>,
): Promise<void> {
  const script = join(import.meta.dirname, 'search-http-server.ts')
  const child = spawn(process.execPath, [script, file, 'verify'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compile-cache') },
  })
  try {
    await use(await readPort(child))
  } finally {
    child.kill()
  }
}

function toPath(q: string): string {
  return `/api/v1/search?q=${encodeURIComponent(q)}`
}

async function readPort({ stdout }: ChildProcess): Promise<number> {
  if (stdout === null) throw new Error('the server has no output')
  const [chunk] = await once(stdout, 'data')
  return Number(String(chunk))
}

async function measure(port: number, name: string, paths: readonly string[]): Promise<void> {
  await loadServer(port, paths, { connections: CONNECTIONS, requests: WARM_UP })
  const before = await usage(port)
  const load = await loadServer(port, paths, { connections: CONNECTIONS, requests: REQUESTS })
  const after = await usage(port)
  const cpu = after.cpuSeconds - before.cpuSeconds
  console.log(
    [
      name.padEnd(52),
      `${Math.round(load.responses / cpu).toLocaleString('en')}/s a core (CPU time)`,
      `${Math.round(load.responses / load.seconds).toLocaleString('en')}/s by the clock`,
      `${(load.bytes / load.responses / 1024).toFixed(1)} KiB each`,
      `${after.rssMb} MiB resident`,
      `load ${after.loadMs.toFixed(0)} ms`,
      `${load.notOk} not 200`,
    ].join(' · '),
  )
}

async function usage(port: number) {
  const response = await fetch(`http://127.0.0.1:${port}/usage`)
  return v.parse(UsageSchema, await response.json())
}
