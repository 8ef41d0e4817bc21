import { afterAll, afterEach, expect, test as testBoth } from 'vitest'
import { describeBothStores } from '../support/stores.ts'
import { createVisitor, tokenOf } from '../support/visitor.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

const MINUTE = 60_000
const DAY = 86_400_000

describeBothStores('signing in', ({ newPlace, plainTest: test }) => {
  let world: World
  let shared: World | undefined
  afterEach(() => (world === shared ? undefined : world.close()))
  afterAll(() => shared?.close())
  const open = async (env: Record<string, string> = {}) => {
    const { config } = await newPlace()
    world = await openWorld({ env: { ...config, RATE_LIMITS: ALL_LIMITS_OFF, ...env } })
    return createVisitor(world)
  }
  /** One world for rows that only knock: nothing they do changes it. */
  const openShared = async () => {
    if (shared === undefined) await open()
    world = shared ??= world
    return createVisitor(shared)
  }

  testBoth('an address is sent a link whose token signs in once', async () => {
    const visitor = await open()
    const sent = await visitor.post('/login', { email: 'Ann@Shop.example' })
    expect(sent.status).toBe(200)
    expect(await sent.json()).toEqual({ status: 'sent' })
    const token = await tokenOf(world, 'ann@shop.example')
    const started = await visitor.post('/session', { token })
    expect(started.status).toBe(200)
    const { seller } = await started.json()
    expect(seller.email).toBe('ann@shop.example')
    const me = await visitor.get('/me')
    expect(await me.json()).toMatchObject({ seller, claims: [], stats: { listings: 0 } })
    const again = await visitor.post('/session', { token })
    expect(again.status).toBe(400)
    expect((await again.json()).code).toBe('token-invalid')
  })

  test('the cookie on http is HttpOnly and Lax, and on https also Secure and bound to the host', async () => {
    const visitor = await open()
    const plain = await visitor.signIn('a@b.example')
    expect(plain).toMatch(/^session=[\w-]{43}; HttpOnly; Max-Age=2592000; Path=\/; SameSite=Lax$/)
    await world.close()
    const secure = await (await open({ BASE_URL: 'https://waypost.example' })).signIn('a@b.example')
    expect(secure).toMatch(/^__Host-session=[\w-]{43}; .*Secure/)
    expect(world.mails[0]?.text).toContain('https://waypost.example/sellers/sign-in?token=')
  })

  test('known and unknown addresses get the same answer', async () => {
    const visitor = await open()
    await visitor.signIn('known@shop.example')
    const known = await visitor.post('/login', { email: 'known@shop.example' })
    const unknown = await visitor.post('/login', { email: 'new@shop.example' })
    expect(await known.text()).toBe(await unknown.text())
    const headers = (answer: Response) => [...answer.headers.keys()].sort()
    expect(headers(known)).toEqual(headers(unknown))
  })

  testBoth('fifty parallel redemptions open one session', async () => {
    const visitor = await open()
    await visitor.post('/login', { email: 'a@b.example' })
    const token = await tokenOf(world, 'a@b.example')
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => visitor.post('/session', { token })),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array(49).fill(400)])
    const sessions = await world.parts.ledger.store.db.selectFrom('session').selectAll().execute()
    expect(sessions).toHaveLength(1)
  })

  test('a newer link replaces the older one', async () => {
    const visitor = await open()
    await visitor.post('/login', { email: 'a@b.example' })
    const older = await tokenOf(world, 'a@b.example')
    await visitor.post('/login', { email: 'a@b.example' })
    const newer = await tokenOf(world, 'a@b.example', 2)
    expect((await visitor.post('/session', { token: older })).status).toBe(400)
    expect((await visitor.post('/session', { token: newer })).status).toBe(200)
  })

  test('a link is void after fifteen minutes, and stays void when the clock is set back', async () => {
    const visitor = await open()
    await visitor.post('/login', { email: 'a@b.example' })
    const token = await tokenOf(world, 'a@b.example')
    world.clock.move(15 * MINUTE + 1)
    expect((await visitor.post('/session', { token })).status).toBe(400)
    world.clock.move(-DAY)
    expect((await visitor.post('/session', { token })).status).toBe(400)
  })

  test('a link from the future, when the clock is set back a day, is void', async () => {
    const visitor = await open()
    await visitor.post('/login', { email: 'a@b.example' })
    const token = await tokenOf(world, 'a@b.example')
    world.clock.move(-DAY)
    expect((await visitor.post('/session', { token })).status).toBe(400)
  })

  test.each(['', 'x', 'undefined', '%00', 'a'.repeat(43), 'ä'.repeat(43), 'a'.repeat(9000)])(
    'garbage token %j is refused',
    async (token) => {
      const visitor = await openShared()
      const answer = await visitor.post('/session', { token })
      expect(answer.status).toBe(400)
      expect((await answer.json()).code).toBe('token-invalid')
    },
  )

  test('a session lives thirty days from its last use, and no longer', async () => {
    const visitor = await open()
    await visitor.signIn('a@b.example')
    world.clock.move(20 * DAY)
    const renewed = await visitor.get('/me')
    expect(renewed.status).toBe(200)
    expect(renewed.headers.get('set-cookie')).toContain('Max-Age=2592000')
    world.clock.move(20 * DAY)
    expect((await visitor.get('/me')).status).toBe(200)
    world.clock.move(31 * DAY)
    expect((await visitor.get('/me')).status).toBe(401)
  })

  testBoth('each sign-in gets a new id and ends the session the browser brought', async () => {
    const visitor = await open()
    const first = await visitor.signIn('a@b.example')
    const second = await visitor.signIn('a@b.example')
    expect(second).not.toBe(first)
    expect((await visitor.get('/me', { Cookie: cookiePair(first) })).status).toBe(401)
    expect((await visitor.get('/me', { Cookie: cookiePair(second) })).status).toBe(200)
  })

  test('signing out ends the session for good', async () => {
    const visitor = await open()
    const cookie = await visitor.signIn('a@b.example')
    const out = await visitor.send('DELETE', '/session')
    expect(out.status).toBe(204)
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(out.headers.get('cache-control')).toBe('no-store')
    expect((await visitor.get('/me', { Cookie: cookiePair(cookie) })).status).toBe(401)
  })

  test('no table holds a token or a session id', async () => {
    const visitor = await open()
    const cookie = cookiePair(await visitor.signIn('a@b.example')).split('=')[1] ?? ''
    await visitor.post('/login', { email: 'a@b.example' })
    const token = await tokenOf(world, 'a@b.example', 2)
    const { db } = world.parts.ledger.store
    const kept = JSON.stringify([
      await db.selectFrom('session').selectAll().execute(),
      await db.selectFrom('login_token').selectAll().execute(),
      await db.selectFrom('mail').selectAll().execute(),
      await db.selectFrom('attempt').selectAll().execute(),
    ])
    for (const secret of [cookie, token]) {
      expect(secret).toHaveLength(43)
      expect(kept).not.toContain(secret)
      expect(world.logLines.join('')).not.toContain(secret)
    }
    expect(world.logLines.join('')).not.toContain('a@b.example')
  })

  test.each([
    '',
    'session=',
    'session=undefined',
    `session=${'a'.repeat(43)}`,
    `session=${'a'.repeat(6000)}`,
    'session=%zz',
    '__Host-session=x; session=y',
  ])('the forged cookie %j is nobody', async (cookie) => {
    const visitor = await openShared()
    expect((await visitor.get('/me', { Cookie: cookie })).status).toBe(401)
  })

  test('a session is taken from the cookie alone, and a planted second cookie spoils it', async () => {
    const visitor = await open()
    const pair = cookiePair(await visitor.signIn('a@b.example'))
    const id = pair.split('=')[1]
    expect((await visitor.get('/me', { Cookie: '', Authorization: `Bearer ${id}` })).status).toBe(
      401,
    )
    expect((await visitor.get(`/me?session=${id}`, { Cookie: '' })).status).toBe(401)
    expect((await visitor.get('/me', { Cookie: `${pair}; session=planted` })).status).toBe(401)
    expect((await visitor.get('/me', { Cookie: `theme=%zz; ${pair}` })).status).toBe(200)
  })

  test.each(['/%6de', '/%256de', '/me%2f', '/Me', '/..%2fme'])(
    'the odd path %s never answers 200 without a session',
    async (path) => {
      const visitor = await openShared()
      expect([400, 401, 404]).toContain((await visitor.get(path)).status)
    },
  )
})

function cookiePair(setCookie: string): string {
  return setCookie.split(';')[0] ?? ''
}
