/**
 * The search function alone, behind the server and the raw that production uses, for
 * `search-http.ts`: prints its port, and at `/usage` the CPU seconds and memory it has used.
 *
 * `node search-http-server.ts <index> <served|fixed> [queries]`: as served, or with bodies that are there
 * already, the ceiling: the answers to a file's queries in turn, so that compressing them finds no body
 * in the processor's cache that it packed a moment ago.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { flushCompileCache } from 'node:module'
import { createUsage } from '../../functions/clicks/usage.ts'
import type { Parts } from '../../functions/features/feature.ts'
import { createProblems } from '../../functions/http/answers.ts'
import { systemClock } from '../../functions/ports/clock.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { prepareTexts } from '../../functions/release/prepare-texts.ts'
import { openSearchIndex, verifyBodiesInSteps } from '../../functions/release/release.ts'
import { createSearch, type Search } from '../../functions/search/search.ts'
import { createSearchPath, createShownRows } from '../../functions/search/search-routes.ts'
import { createRateLimits } from '../../functions/server/rate-limits.ts'
import { createWaypostServer } from '../../functions/service/server.ts'
import type { Store } from '../../functions/store/store.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'

const [file = '', mode = 'served', queries] = process.argv.slice(2)
const started = performance.now()
const index = openSearchIndex(file)
const loadMs = performance.now() - started
const texts = prepareTexts(index, {
  texts: {
    showcase: [],
    featured_label: 'Our own kits, a showcase; no fee was paid.',
    sponsored_policy: 'Placements are not sold.',
    ranking: 'BM25 over name, tags and categories, summary; times trust and Live-Tested.',
    attribution: ['Listings from public registries.'],
  },
  also_search: [
    { name: 'Another directory', url: 'https://directory.example', note: 'Link only.' },
  ],
  tasks: [],
})
const config = parseConfig({ RATE_LIMITS: '{"search":"off"}' })
const log = createLog(() => {}, Date.now)
// What is shown is counted as in service; the store it goes to is the machine's business.
const store = { db: { transaction: () => ({ execute: async () => {} }) } }
const usage = createUsage(store as unknown as Store, systemClock, log)
const parts = {
  config,
  log,
  problem: createProblems(config.BASE_URL),
  limits: createRateLimits(config),
  // The server looks at nothing else of the release.
  release: () => ({
    search: index,
    searchTexts: texts,
    files: { has: () => false, serve: () => false },
    site: { switches: {} },
  }),
}
const shown = createShownRows((id, times) => usage.searched([id], 'api', times))
usage.beforeFlush(shown.report)
const search = createSearch({
  index: () => index,
  texts: () => texts,
  randomUuid: randomUUID,
  onShown: shown.add,
})
const served = mode === 'fixed' ? repeatAnswers(search) : search
const server = createWaypostServer({
  parts: parts as unknown as Parts,
  features: [{ paths: [createSearchPath(ROUTES.search.path, parts, served)] }],
  pages: { has: (path) => path === '/usage', hasForm: () => false, serve: answerUsage },
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('expected a port')
  flushCompileCache()
  process.stdout.write(`${address.port}\n`)
  // As in service: bodies in the file are verified while the first searches are answered.
  void verifyBodiesInSteps(index)
})

function repeatAnswers(search: Search): Search {
  const requested = queries === undefined ? [] : readFileSync(queries, 'utf8').split('\n')
  const first = search('limit=20')
  const replies = requested.map((q) => search(`q=${encodeURIComponent(q)}`))
  let next = 0
  return () => replies[next++ % replies.length] ?? first
}

function answerUsage(_req: IncomingMessage, res: ServerResponse, path: string): boolean {
  if (path !== '/usage') return false
  const { user, system } = process.cpuUsage()
  const rssMb = process.memoryUsage().rss / 1024 / 1024
  res.end(JSON.stringify({ cpuSeconds: (user + system) / 1e6, rssMb, loadMs }))
  return true
}
