import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openStore } from '../../../functions/store/open-store.ts'
import type { ProbePlan } from '../../../src/domain/probe/plan.ts'
import { startPostgres } from '../../support/postgres.ts'
import { sharedTmp } from '../../support/shared-tmp.ts'
import { silentLog } from '../../support/stores.ts'

/**
 * Servers that probe local listings beside each other and are killed at random:
 * `node test/bench/fleet/run-fleet.ts [--listings 10000] [--hosts 3000] [--servers 4] [--kills 12] [--wait 30]`.
 * The sellers themselves count who asks what, and how many at once.
 */
const { values } = parseArgs({
  options: {
    listings: { type: 'string', default: '10000' },
    hosts: { type: 'string', default: '3000' },
    servers: { type: 'string', default: '4' },
    kills: { type: 'string', default: '12' },
    /** How long a seller takes on average (milliseconds). */
    wait: { type: 'string', default: '30' },
  },
})
const [LISTINGS, HOSTS, SERVERS, KILLS] = [
  values.listings,
  values.hosts,
  values.servers,
  values.kills,
].map(Number)
const SERVER = fileURLToPath(new URL('fleet-server.ts', import.meta.url))
/** Loopback addresses of the sellers: a server asks four things at once of each. */
const ADDRESSES = 64
const END_AFTER_MS = 15 * 60_000

const inside = new Map<string, number>()
const requested = new Map<string, number>()
let mostAtOnce = 0
const answer: RequestListener = async (req, res) => {
  const { host = '' } = req.headers
  const now = (inside.get(host) ?? 0) + 1
  inside.set(host, now)
  mostAtOnce = Math.max(mostAtOnce, now)
  requested.set(`${host}${req.url}`, (requested.get(`${host}${req.url}`) ?? 0) + 1)
  await sleep((0.5 + Math.random()) * Number(values.wait))
  inside.set(host, (inside.get(host) ?? 1) - 1)
  res.writeHead(402, { 'payment-required': TERMS }).end('{}')
}
const TERMS = Buffer.from(
  JSON.stringify({
    x402Version: 2,
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:8453',
        amount: '90000',
        asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        payTo: `0x${'ab'.repeat(20)}`,
      },
    ],
  }),
).toString('base64')

async function startSellers(): Promise<number> {
  const first = createServer(answer).listen(0, '127.0.0.1')
  await once(first, 'listening')
  const { port } = first.address() as AddressInfo // listening on TCP: never a string or null
  for (let n = 2; n <= ADDRESSES; n += 1)
    await once(createServer(answer).listen(port, `127.0.0.${n}`), 'listening')
  return port
}

function toPlan(n: number, port: number): ProbePlan {
  const url = `http://shop-${n % (HOSTS ?? 1)}.example:${port}/${n}`
  const operation = { method: 'GET' as const, url }
  return {
    id: `x402.shop-${n}`,
    handshake: {
      kind: 'payment',
      request: { ...operation, headers: {} },
      operation,
      rails: ['x402'],
      is_guess: false,
    },
    declared: { operations: [], networks: [], payouts: [] },
  }
}

async function main(): Promise<void> {
  const port = await startSellers()
  const plans = Array.from({ length: LISTINGS ?? 0 }, (_, n) => toPlan(n, port))
  const file = join(dir, 'plans.json')
  writeFileSync(file, JSON.stringify(plans))
  const DATABASE_URL = await postgres.createDatabase()
  const store = await openStore({ DATABASE_URL, STATE_DIR: dir }, silentLog)
  const start = () =>
    spawn(process.execPath, [SERVER, file, String(ADDRESSES)], {
      env: { PATH: process.env.PATH, DATABASE_URL },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
  const children: ChildProcess[] = Array.from({ length: SERVERS ?? 1 }, start)
  const began = performance.now()
  let kills = 0
  const waiting = async () => {
    const { count } = await store.db
      .selectFrom('job')
      .where('queue', '=', 'probe')
      .where('due', '<=', Date.now())
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return count
  }
  try {
    while (performance.now() - began < END_AFTER_MS) {
      await sleep(500 + Math.random() * 2000)
      if (requested.size > 0 && (await waiting()) === 0) break
      if (kills >= (KILLS ?? 0) || requested.size === 0) continue
      const n = Math.floor(Math.random() * children.length)
      children[n]?.kill('SIGKILL')
      children[n] = start()
      kills += 1
    }
    const seconds = (performance.now() - began) / 1000
    const rows = await store.db
      .selectFrom('probe_evidence')
      .select(['evidence', 'asked_at'])
      .execute()
    console.log({
      listings: plans.length,
      hosts: HOSTS,
      servers: SERVERS,
      kills,
      seconds: Math.round(seconds),
      a_second: Math.round(requested.size / seconds),
      requested_once: [...requested.values()].filter((count) => count === 1).length,
      requested_twice: [...requested.values()].filter((count) => count > 1).length,
      most_at_once_on_a_host: mostAtOnce,
      with_evidence: rows.filter(({ evidence }) => evidence !== '{}').length,
      begun_and_killed_due_tomorrow: rows.filter(({ evidence }) => evidence === '{}').length,
      never_requested: plans.length - rows.length,
    })
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await store.close()
  }
}

const dir = mkdtempSync(join(sharedTmp(), 'waypost-fleet-'))
const postgres = await startPostgres()
try {
  await main()
} finally {
  await postgres.stop()
  rmSync(dir, { recursive: true, force: true })
}
process.exit()
