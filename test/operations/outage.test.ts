import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { liveListing } from '../support/live-listing.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { createVisitor } from '../support/visitor.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

describe('a database that goes away and comes back', () => {
  let postgres: Postgres
  let wire: TcpProxy
  let world: World
  beforeAll(async () => {
    postgres = await startPostgres()
    const database = new URL(await postgres.createDatabase())
    wire = await startTcpProxy(Number(database.port))
    database.port = String(wire.port)
    world = await openWorld({
      env: { DATABASE_URL: database.href, RATE_LIMITS: ALL_LIMITS_OFF },
      listings: [liveListing('x402.a', 'https://a.example/')],
    })
  })
  afterAll(async () => {
    await world?.close()
    await wire?.close()
    await postgres?.stop()
  })

  const go = () => fetch(`${world.url}/go/x402.a`, { redirect: 'manual' })
  const readyz = async () => (await fetch(`${world.url}/readyz`)).status
  const healthz = async () => (await fetch(`${world.url}/healthz`)).status

  test('redirects go on, sellers get a 503 and nobody gets in; then everything is as before', async () => {
    const visitor = createVisitor(world)
    await visitor.signIn('ann@shop.example')
    expect((await go()).status).toBe(302)
    await expect.poll(readyz).toBe(200)

    wire.cut()
    expect((await go()).status).toBe(302)
    expect((await go()).status).toBe(302)
    world.clock.move(1_000)
    expect(await readyz()).toBe(503)
    expect(await healthz()).toBe(200)
    const me = await visitor.get('/me')
    expect(me.status).toBe(503)
    expect(await me.json()).toMatchObject({ code: 'store-unavailable' })
    const login = await visitor.post('/login', { email: 'bob@shop.example' })
    expect(login.status).toBe(503)
    const guess = await visitor.post('/session', { token: 'x'.repeat(43) })
    expect(guess.status).toBe(503)
    expect(guess.headers.get('set-cookie')).toBeNull()
    const { written, lost } = world.parts.ledger.clicks.tally()
    expect([written, lost]).toEqual([1, 2])

    wire.mend()
    await expect.poll(readyz).toBe(200)
    expect((await visitor.get('/me')).status).toBe(200)
    expect((await go()).status).toBe(302)
    expect(world.parts.ledger.clicks.tally()).toEqual({ written: 2, lost: 2, waiting: 0 })
    const rows = await world.parts.ledger.store.db.selectFrom('click').selectAll().execute()
    expect(rows).toHaveLength(2)
    expect(world.logLines.join('')).not.toContain('for-tests-only')
  })
})
