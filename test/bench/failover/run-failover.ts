import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { findFreePort } from '../../support/free-port.ts'
import { findPostgresPrograms, POSTGRES_ACCOUNT } from '../../support/postgres-files.ts'
import { sharedTmp } from '../../support/shared-tmp.ts'

/**
 * Kills the primary of two PostgreSQL servers under load: `node test/bench/failover/run-failover.ts`. Three
 * servers take clicks and settlements meanwhile. Every click they counted as written must be on the
 * standby that was promoted, every settlement once, and `/readyz` must say what happens.
 */
const SERVER = fileURLToPath(new URL('failover-server.ts', import.meta.url))
const LOAD_MS = 4_000
const PATIENCE_MS = 30_000
const programs = findPostgresPrograms()
const dir = mkdtempSync(join(sharedTmp(), 'waypost-failover-'))
const { uid, gid } = POSTGRES_ACCOUNT
if (uid !== undefined && gid !== undefined) chownSync(dir, uid, gid)

const run = (program: string, ...args: string[]) => {
  const done = spawnSync(program, args, {
    ...POSTGRES_ACCOUNT,
    cwd: dir,
    encoding: 'utf8',
  })
  if (done.status !== 0) throw new Error(`${program}: ${done.stderr || done.error?.message}`)
}

const children: ChildProcess[] = []
async function startServer(data: string, port: number): Promise<ChildProcess> {
  const flags = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
  const args = ['-D', data, '-p', String(port), ...flags]
  const server = spawn(join(programs, 'postgres'), args, {
    ...POSTGRES_ACCOUNT,
    cwd: dir,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  children.push(server)
  let stated = ''
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.stderr.on('data', (chunk) => {
    stated += chunk
    if (/ready to accept (?:read-only )?connections/.test(stated)) resolve()
  })
  server.once('exit', () => reject(new Error(`PostgreSQL stopped: ${stated}`)))
  await promise
  return server
}

const urlOf = (hosts: string) => `postgres://waypost@${hosts}/postgres`
async function query<Row extends pg.QueryResultRow>(port: number, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: urlOf(`127.0.0.1:${port}`) })
  await client.connect()
  return (await client.query<Row>(text).finally(() => client.end())).rows
}

interface Seen {
  sids: Set<string>
  refused: number
}

async function main(): Promise<void> {
  const [first, second] = [await findFreePort(), await findFreePort()]
  const [one, two] = [join(dir, 'one'), join(dir, 'two')]
  run(
    join(programs, 'initdb'),
    '-D',
    one,
    '-U',
    'waypost',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  )
  appendFileSync(join(one, 'pg_hba.conf'), 'host replication all 127.0.0.1/32 trust\n')
  // Copied before it ever runs, which needs no program for base backups.
  run('cp', '-a', one, two)
  writeFileSync(join(two, 'standby.signal'), '')
  appendFileSync(
    join(two, 'postgresql.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${first} user=waypost application_name=standby'\n`,
  )
  const primary = await startServer(one, first)
  await startServer(two, second)
  await query(first, "ALTER SYSTEM SET synchronous_standby_names = '*'")
  await query(first, 'SELECT pg_reload_conf()')
  for (let look = 0; look < 100; look += 1) {
    const rows = await query<{ sync_state: string }>(
      first,
      'SELECT sync_state FROM pg_stat_replication',
    )
    if (rows[0]?.sync_state === 'sync') break
    await sleep(100)
  }
  const servers = await Promise.all(
    [1, 2, 3].map(() => startService(urlOf(`127.0.0.1:${first},127.0.0.1:${second}`))),
  )
  const seen: Seen = { sids: new Set(), refused: 0 }
  console.log('servers run')
  const load = new AbortController()
  const clients = servers.flatMap(({ url }) =>
    Array.from({ length: 8 }, () => click(url, seen, load.signal)),
  )
  await sleep(LOAD_MS)
  const before = await Promise.all(servers.map(({ url }) => readyz(url)))
  primary.kill('SIGKILL')
  const killed = performance.now()
  const down = await until(servers, (status) => status === 503, killed)
  console.log('primary killed')
  await sleep(2_000)
  const promoting = performance.now()
  run(join(programs, 'pg_ctl'), 'promote', '-D', two, '-w')
  const promoted = performance.now()
  // It has no standby of its own yet: without this every commit would wait for one.
  await query(second, "ALTER SYSTEM SET synchronous_standby_names = ''")
  await query(second, 'SELECT pg_reload_conf()')
  const up = await until(servers, (status) => status === 200, promoted)
  await sleep(LOAD_MS)
  load.abort()
  await Promise.all(clients)
  const tallies = await Promise.all(servers.map(({ child }) => stop(child)))
  const sids = new Set(
    (await query<{ sid: string }>(second, 'SELECT sid FROM click')).map(({ sid }) => sid),
  )
  const [rows] = await query<{ rows: number; twice: number }>(
    second,
    'SELECT count(*)::int AS rows, (count(*) - count(DISTINCT transaction_id))::int AS twice FROM settlement',
  )
  const acknowledged = tallies.flatMap(({ written }) => written)
  console.log({
    redirects: seen.sids.size,
    refused: seen.refused,
    clicks_acknowledged: acknowledged.length,
    acknowledged_and_lost: acknowledged.filter((sid) => !sids.has(sid)).length,
    clicks_not_written_and_stated: tallies.reduce((sum, { lost }) => sum + lost, 0),
    settlements_acknowledged: tallies.reduce((sum, { settled }) => sum + settled, 0),
    settlements: rows,
    readyz_before: before.map(({ status }) => status),
    readyz_503_after_kill_ms: down,
    promotion_ms: Math.round(promoted - promoting),
    readyz_200_after_promotion_ms: up,
  })
}

async function startService(url: string) {
  const child = spawn(process.execPath, [SERVER], {
    env: { PATH: process.env.PATH, DATABASE_URL: url },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  const [line] = await once(child.stdout, 'data')
  return { child, url: String(line).trim() }
}

async function stop(
  child: ChildProcess,
): Promise<{ written: string[]; lost: number; settled: number }> {
  let text = ''
  child.stdout?.on('data', (chunk) => (text += chunk))
  child.stdin?.end()
  await once(child, 'close')
  return JSON.parse(text)
}

async function click(url: string, seen: Seen, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const sid = crypto.randomUUID()
    const answer = await fetch(`${url}/go/x402.weather?sid=${sid}&src=api`, {
      redirect: 'manual',
    }).catch(() => null)
    if (answer?.status === 302) seen.sids.add(sid)
    else seen.refused += 1
    await sleep(5)
  }
}

async function readyz(url: string): Promise<{ status: number }> {
  const answer = await fetch(`${url}/readyz`)
  await answer.arrayBuffer()
  return { status: answer.status }
}

/** Milliseconds until each server says so. */
function until(
  servers: readonly { url: string }[],
  is: (status: number) => boolean,
  since: number,
) {
  return Promise.all(
    servers.map(async ({ url }) => {
      while (performance.now() - since < PATIENCE_MS) {
        if (is((await readyz(url)).status)) return Math.round(performance.now() - since)
        await sleep(50)
      }
      return null
    }),
  )
}

try {
  await main()
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
}
