import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { toNodeHandler } from 'h3'
import { createClickWriter, createGo } from '../../../functions/clicks/go.ts'
import type { Ledger, Parts } from '../../../functions/features/feature.ts'
import { createProblems } from '../../../functions/http/answers.ts'
import { systemClock } from '../../../functions/ports/clock.ts'
import { parseConfig } from '../../../functions/ports/config.ts'
import { createLog } from '../../../functions/ports/log.ts'
import type { Release } from '../../../functions/release/release.ts'
import { createRateLimits } from '../../../functions/server/rate-limits.ts'
import { createApp, openPaths } from '../../../functions/service/app.ts'
import { openStore } from '../../../functions/store/open-store.ts'
import type { Store } from '../../../functions/store/store.ts'
import { insertPayments } from '../../../functions/trust/meter-rows.ts'
import { liveListing } from '../../support/live-listing.ts'

/**
 * A server of the failover study: `/go` and `/readyz` over the store its environment names, and a
 * settlement every 20 ms that is tried until the store has taken it, as the meter does.
 * Says at the end which clicks it counted as written.
 */
const config = parseConfig({ RATE_LIMITS: '{"go":"off"}', ...process.env })
const log = createLog(() => {}, Date.now)
const opened = await openStore(config, log)
const written: (string | null)[] = []
const store: Store = {
  ...opened,
  async appendClicks(clicks) {
    await opened.appendClicks(clicks)
    written.push(...clicks.map(({ sid }) => sid))
  },
}
const clicks = createClickWriter(store, log)
const listing = liveListing('x402.weather', 'https://api.example.com/weather')
const parts = {
  config,
  log,
  clock: systemClock,
  problem: createProblems(config.BASE_URL),
  limits: createRateLimits(config),
  ledger: { clicks, store } as Partial<Ledger> as Ledger,
  release: () => ({ listings: new Map([[listing.id, listing]]) }) as Partial<Release> as Release,
} as Partial<Parts> as Parts
const app = createApp(parts, openPaths(parts, [{ routes: { go: createGo(parts) } }]))
const server = createServer(toNodeHandler(app))
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo // listening on TCP: never a string or null
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})

let settled = 0
const stopping = new AbortController()
const settling = settle()
process.stdin.resume().on('end', async () => {
  stopping.abort()
  await settling
  await clicks.close()
  process.stdout.write(JSON.stringify({ written, settled, lost: clicks.tally().lost }), () =>
    process.exit(0),
  )
})

async function settle(): Promise<void> {
  while (!stopping.signal.aborted) {
    const transaction = `0x${crypto.randomUUID().replaceAll('-', '').padEnd(64, '0')}`
    const at = Date.now()
    while (!(await trySettling(transaction, at))) await sleep(200)
    settled += 1
    await sleep(20)
  }
}

async function trySettling(transaction: string, at: number): Promise<boolean> {
  const payment = { network: 'eip155:8453', transaction, log: 0, amount: '10000', usd: 0.01 }
  const parties = { listing_id: '', payer: '0x01', payee: '0x02' }
  try {
    const row = { ...payment, ...parties, at, block: 1, scheme: null }
    await store.db.transaction().execute((trx) => insertPayments(trx, [], [row]))
    return true
  } catch {
    return false
  }
}
