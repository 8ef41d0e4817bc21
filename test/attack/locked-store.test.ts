import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { SQLITE_FILE } from '../../functions/store/sqlite.ts'
import { createOpenApi } from '../../src/build/openapi/create-openapi.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'
import { longTest } from '../support/long.ts'
import { sharePostgres } from '../support/postgres.ts'
import { type RunningService, serveFixture, startService } from '../support/running-service.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** Whoever writes hears within this (milliseconds) that nothing can be stored. */
const SOON_MS = 5_000
/** A busy machine is not a slow store. */
const SLACK_MS = 2_000

interface Operation {
  requestBody?: { content: { 'application/json': { example: unknown } } }
  responses: Record<string, unknown>
}
const described = createOpenApi('https://waypost.example', SITE_TEXTS).paths
const operationOf = (method: string, path: string): Operation => {
  const template = path.replace(/:(\w+)/g, '{$1}')
  return Object(described)[template][method.toLowerCase()]
}
const WRITES = Object.values(ROUTES).flatMap(({ methods, path, answer }) =>
  // A call asks another first, who takes its time.
  answer !== 'live' || path === ROUTES.call.path
    ? []
    : methods.filter((method) => method !== 'GET').map((method) => ({ method, path })),
)
let visitors = 0
const visitor = () => {
  visitors += 1
  return visitors % 250
}
const COOKIE = { Cookie: `__Host-session=${'A'.repeat(43)}` }
const write = (url: string, { method, path }: (typeof WRITES)[number]) => {
  const body = operationOf(method, path).requestBody?.content['application/json'].example
  return fetch(url + path.replace(/:\w+/g, 'T'.repeat(43)), {
    method,
    headers: {
      ...COOKIE,
      'X-Forwarded-For': `203.0.113.${visitor()}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && {
      // A token of another form is refused without the store.
      body: JSON.stringify(body)
        .replace(/"(listing\w*)":"[^"]+"/, '"$1":"x402.weather"')
        .replace(/"token":"[^"]+"/, `"token":"${'T'.repeat(43)}"`),
    }),
    signal: AbortSignal.timeout(SOON_MS + SLACK_MS),
  })
}
/** What cannot be answered without the store, whatever was sent. */
const NEED_IT = [...[ROUTES.login, ROUTES.session_start, ROUTES.session_end]]

/** Every write at once, several of each: they wait for the store together, not one after another. */
async function expectUnavailable(url: string) {
  const requested = Array.from({ length: 4 }, () => WRITES).flat()
  const answers = await Promise.all(
    requested.map(async (operation) => {
      const { status } = await write(url, operation)
      return { ...operation, status }
    }),
  )
  for (const { method, path, status } of answers) {
    const of = `${method} ${path}`
    expect(Object.keys(operationOf(method, path).responses), of).toContain(String(status))
    if (NEED_IT.some((needs) => needs.path === path)) expect(status, of).toBe(503)
  }
}

const LIMITS_OFF = JSON.stringify(
  Object.fromEntries(
    ['login', 'session', 'claim', 'check', 'payout', 'propose', 'dispute'].map((name) => [
      name,
      'off',
    ]),
  ),
)

describe('a ledger that another process has locked (sqlite)', () => {
  const stateDir = tempFolder('locked')
  const waypost = serveFixture({ STATE_DIR: stateDir, RATE_LIMITS: LIMITS_OFF })
  let other: DatabaseSync
  beforeAll(async () => {
    other = new DatabaseSync(join(stateDir, SQLITE_FILE))
  })
  afterAll(() => other.close())
  afterEach(() => other.exec('ROLLBACK'))

  test('every write hears of it soon', async () => {
    other.exec('BEGIN IMMEDIATE')
    await expectUnavailable(waypost.url)
  }, 30_000)
})

describe('a ledger that does not answer (postgres)', () => {
  let waypost: RunningService
  let proxy: TcpProxy
  let other: pg.Client
  beforeAll(async () => {
    const url = new URL(await (await sharePostgres()).createDatabase())
    other = new pg.Client(url.href)
    await other.connect()
    proxy = await startTcpProxy(Number(url.port))
    url.port = String(proxy.port)
    const limits = { RATE_LIMITS: '{}', TRUST_PROXY: '1' }
    waypost = await startService({ DATABASE_URL: url.href, ...limits })
  })
  afterAll(async () => {
    proxy.mend()
    await other.end()
    await waypost.close()
    await proxy.close()
  })

  longTest(
    'because its tables are locked: every write hears of it soon',
    async () => {
      const { rows } = await other.query(
        "select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%'",
      )
      await other.query('begin')
      await other.query(`lock table ${rows.map(({ tablename }) => tablename).join(', ')}`)
      await expectUnavailable(waypost.url)
      await other.query('rollback')
    },
    30_000,
  )

  test('because it hangs: every write hears of it soon', async () => {
    proxy.hold()
    await expectUnavailable(waypost.url)
    proxy.mend()
  }, 30_000)

  longTest(
    'because it is gone: every write hears of it soon',
    async () => {
      proxy.cut()
      await expectUnavailable(waypost.url)
      proxy.mend()
    },
    30_000,
  )
})
