/**
 * The search function alone, behind the server and the raw that production uses, for
 * `search-http.ts`: prints its port.
 *
 * `node search-http-server.ts <index> <served|fixed> [queries]`: as served, or with bodies that are there
 * already, the ceiling: the answers to a file's queries in turn, so that compressing them finds no body
 * in the processor's cache that it packed a moment ago.
 */
import { readFileSync } from 'node:fs'
import { createUsage } from '../../functions/clicks/usage.ts'
import type { Parts } from '../../functions/features/feature.ts'
import { createProblems } from '../../functions/http/answers.ts'
import { systemClock } from '../../functions/ports/clock.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { prepareTexts } from '../../functions/release/prepare-texts.ts'
import { openSearchIndex, verifyBodiesInSteps } from '../../functions/release/release.ts'
import type { Search } from '../../functions/search/search.ts'
import { createReleaseSearch, createSearchPath } from '../../functions/search/search-routes.ts'
import { createRateLimits } from '../../functions/server/rate-limits.ts'
import { createWaypostServer } from '../../functions/service/server.ts'
import type { Store } from '../../functions/store/store.ts'
import { createFindNotListed } from '../../src/domain/sellers/not-listed.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { listen } from '../support/listen.ts'
import { SHARED_HOSTS } from '../support/shared-hosts.ts'

const [file = '', mode = 'served', queries] = process.argv.slice(2)
const index = openSearchIndex(file)
const texts = { featured_label: 'Showcase', sponsored_policy: 'None', ranking: 'BM25F' }
const searchTexts = prepareTexts(index, {
  texts: { ...texts, showcase: [], attribution: ['Listings from public registries.'] },
  ...{ also_search: [], tasks: [] },
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
  ledger: { usage },
  // The server looks at nothing else of the release.
  release: () => ({
    search: index,
    searchTexts,
    sharedHosts: SHARED_HOSTS,
    findNotListed: createFindNotListed([], []),
    files: { has: () => false, serve: () => false },
    site: { switches: {} },
  }),
} as unknown as Parts
const search = createReleaseSearch(parts, 'api')
const served = mode === 'fixed' ? repeatAnswers(search) : search
const server = createWaypostServer({
  parts,
  features: [{ paths: [createSearchPath(ROUTES.search.path, parts, served)] }],
})
console.log(await listen(server))
// As in service: bodies in the file are verified while the first searches are answered.
void verifyBodiesInSteps(index)

function repeatAnswers(search: Search): Search {
  const requested = queries === undefined ? [] : readFileSync(queries, 'utf8').split('\n')
  const first = search('limit=20')
  const replies = requested.map((q) => search(`q=${encodeURIComponent(q)}`))
  let next = 0
  return () => replies[next++ % replies.length] ?? first
}
