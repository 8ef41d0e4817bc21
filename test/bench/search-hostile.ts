/**
 * Queries made to be slow, each beside a plain one asked in turn with it, at the real listings:
 * none may take over 50 ms. A benchmark, not a test: what a busy machine does to a clock is not a fault.
 */
import { randomUUID } from 'node:crypto'
import { createSearch } from '../../functions/search/search.ts'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { loadSearchIndex } from '../../src/search/index/load-index.ts'
import { HOSTILE_QUERIES } from '../search/hostile-queries.ts'
import { readScaleListings } from './scale-listings.ts'
import { findSharedDir } from './shared-data.ts'

const PLAIN = 'q=weather+forecast'
const ROUNDS = 300
const MOST_MS = 50

const shared = findSharedDir()
if (shared === null)
  console.log('bench:search-hostile skipped: ../shared/data is absent (set SHARED_DIR)')
else benchHostile(shared)

function benchHostile(sharedDir: string): void {
  const documents = readScaleListings(sharedDir)
  const index = loadSearchIndex(buildSearchIndex(documents))
  // What was asked before is remembered; here every search is a new one.
  const search = createSearch({
    index: () => index,
    texts: () => ({
      featured: [],
      featured_label: '',
      sponsored_policy: '',
      also_search: [],
      ranking: '',
      attribution: [],
    }),
    randomUuid: randomUUID,
    remembered: 0,
  })
  for (let round = 0; round < ROUNDS; round += 1) search(PLAIN)
  console.log(`\nHostile queries at ${documents.length.toLocaleString('en')} listings`)
  const rows = Object.entries(HOSTILE_QUERIES).map(([name, query]) => {
    const { hostile, plain } = timeInTurn(
      () => search(query),
      () => search(PLAIN),
    )
    return { name, status: search(query).status, ms: hostile, ratio: hostile / plain }
  })
  console.table(
    Object.fromEntries(
      rows.map(({ name, status, ms, ratio }) => [
        name,
        { status, 'median ms': ms.toFixed(3), '× a plain query': ratio.toFixed(1) },
      ]),
    ),
  )
  const slowest = rows.toSorted((a, b) => b.ms - a.ms)[0]
  const verdict = rows.every(({ ms }) => ms <= MOST_MS) ? 'none over' : 'NOT all within'
  console.log(`${verdict} ${MOST_MS} ms; slowest: ${slowest?.name}, ${slowest?.ms.toFixed(3)} ms`)
}

/** Medians of both in milliseconds; asked in turn, so that the machine's load is the same for both. */
function timeInTurn(hostile: () => unknown, plain: () => unknown) {
  const times: { hostile: number[]; plain: number[] } = { hostile: [], plain: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    times.hostile.push(timeOf(hostile))
    times.plain.push(timeOf(plain))
  }
  return { hostile: medianOf(times.hostile), plain: medianOf(times.plain) }
}

function timeOf(work: () => unknown): number {
  const started = performance.now()
  work()
  return performance.now() - started
}

function medianOf(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}
