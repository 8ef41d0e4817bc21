import { createServer } from 'node:http'
import { flushCompileCache } from 'node:module'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from 'h3'
import { createClickWriter, createGo } from '../../functions/clicks/go.ts'
import type { Ledger, Parts } from '../../functions/features/feature.ts'
import { createProblems } from '../../functions/http/answers.ts'
import { systemClock } from '../../functions/ports/clock.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import type { Release } from '../../functions/release/release.ts'
import { createRateLimits } from '../../functions/server/rate-limits.ts'
import { createApp, openPaths } from '../../functions/service/app.ts'
import { openStore } from '../../functions/store/open-store.ts'
import { liveListing } from './live-listing.ts'

/**
 * A child process that answers `/go` over the store its environment names, for tests that kill it
 * and benches that load it: the real handler, app, writer and store, and nothing that takes time to
 * load. Prints its address once it listens; for each line it reads it prints its tally.
 */
const config = parseConfig({ RATE_LIMITS: '{"go":"off"}', ...process.env })
const log = createLog((line) => process.stderr.write(line), Date.now)
const store = await openStore(config, log)
// A busy machine must not look like a store that hangs.
const clicks = createClickWriter(store, log, 60_000)
const listing = liveListing('x402.weather', 'https://api.example.com/weather')
const listings = new Map([[listing.id, listing]])
// The parts `/go` looks at; the rest is not there.
const parts = {
  config,
  log,
  clock: systemClock,
  problem: createProblems(config.BASE_URL),
  limits: createRateLimits(config),
  ledger: { clicks } as Partial<Ledger> as Ledger,
  release: () => ({ listings }) as Partial<Release> as Release,
} as Partial<Parts> as Parts
const app = createApp(parts, openPaths(parts, [{ routes: { go: createGo(parts) } }]))
// Beside it, for comparison: the same answer without the log.
app.get('/unlogged', () => new Response(null, { status: 302, headers: { Location: listing.url } }))
const server = createServer(toNodeHandler(app))
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo // listening on TCP: never a string or null
  process.stdout.write(`http://127.0.0.1:${port}\n`)
  // Most are killed, which keeps nothing for the next one.
  flushCompileCache()
})
process.stdin.on('data', () => {
  process.stdout.write(`${JSON.stringify(clicks.tally())}\n`)
})
process.stdin.on('end', () => process.exit(0))
