import type { Parts } from '../../../functions/features/feature.ts'
import { createProblems } from '../../../functions/http/answers.ts'
import { createResolver } from '../../../functions/net/resolver.ts'
import { systemClock } from '../../../functions/ports/clock.ts'
import { parseConfig } from '../../../functions/ports/config.ts'
import { createLog } from '../../../functions/ports/log.ts'
import { createRelay, toRelayFeature } from '../../../functions/relay/relay.ts'
import type { Release } from '../../../functions/release/release.ts'
import { createRateLimits } from '../../../functions/server/rate-limits.ts'
import { createWaypostServer } from '../../../functions/service/server.ts'
import { aListing } from '../../call/relay-world.ts'
import { listen } from '../../support/listen.ts'

/** The service's own server with nothing behind it but the relay: `node relay-process.ts <seller>`. */
const [sellerUrl = ''] = process.argv.slice(2)
const config = parseConfig({
  BASE_URL: 'https://waypost.example',
  UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
  // Each stream of the memory test is another client's, as named by its proxy.
  TRUST_PROXY: '1',
  RATE_LIMITS: '{"call":"999999999/60"}',
})
const listings = new Map([['x402.seller', aListing(sellerUrl)]])
const parts = {
  config,
  problem: createProblems(config.BASE_URL),
  clock: systemClock,
  // One line a call is written, as in service; where it goes is the machine's business.
  log: createLog(() => {}, Date.now),
  resolver: createResolver(undefined),
  limits: createRateLimits(config),
  ledger: { usage: { called: () => {} }, hints: { note: () => {} } },
  release: () => ({ listings, gone: new Map() }),
}
const server = createWaypostServer({
  // The relay's path is answered before the server looks at anything else of the parts.
  parts: parts as unknown as Parts & { release: () => Release },
  features: [toRelayFeature(createRelay(parts))],
})
process.once('SIGINT', () => process.exit(0))
console.log(await listen(server))
