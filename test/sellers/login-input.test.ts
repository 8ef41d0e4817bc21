import { beforeEach, expect, test } from 'vitest'
import { forAllTests } from '../support/for-tests.ts'
import { liveListing } from '../support/live-listing.ts'
import { describeStores } from '../support/stores.ts'
import { createVisitor, tokenOf } from '../support/visitor.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }

describeStores('what sign-in refuses', ({ newPlace }) => {
  const world = forAllTests(async () => {
    const { config } = await newPlace()
    return openWorld({ env: { ...config, RATE_LIMITS: ALL_LIMITS_OFF } })
  })
  beforeEach(() => {
    world.mails.length = 0
  })

  const login = (body: BodyInit | null, headers: Record<string, string> = JSON_TYPE) =>
    fetch(`${world.url}/api/v1/sellers/login`, { method: 'POST', body, headers })
  const expectRefused = async (answer: Response, status: number, code: string) => {
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect((await answer.json()).code).toBe(code)
    await world.parts.ledger.mails.send()
    expect(world.mails).toEqual([])
  }

  test.each([
    'a@b.example,c@evil.example',
    'a@b.example;c@evil.example',
    'a@b.example c@evil.example',
    'a@b.example\nBcc: c@evil.example',
    'a@b.example\r\n',
    '"x@evil.example x"@victim.example',
    'a@victim.example(x)evil.example',
    '<a@b.example>',
    'Ann <a@b.example>',
    '=?utf-8?q?a?=@b.example',
    'a%evil.example@b.example',
    'a!b@b.example',
    'a@[127.0.0.1]',
    'a@127.0.0.1',
    'a@localhost',
    'a@b.example.',
    'a@.b.example',
    'a@b..example',
    'a@-b.example',
    'а@b.example',
    'a@ｂ.example',
    'a@b.exаmple',
    'a\u212A@b.example',
    'a@b\u212A.example',
    '\u017Fam@b.example',
    'a@b.example\u0130',
    'ann@größe.example',
    'ann@p\u0430ypal.example',
    'ännä@shop.example',
    'ann@evil.example/größe.example',
    'a\u0000@b.example',
    'a@b.example\u0000',
    '.a@b.example',
    'a..b@b.example',
    'a.@b.example',
    '@b.example',
    'a@',
    'a',
    '',
    ' ',
    'a@b@c.example',
    `${'a'.repeat(65)}@b.example`,
    `a@${'b'.repeat(64)}.example`,
    `a@${'b.'.repeat(130)}example`,
    '('.repeat(8000),
    'mailto:a@b.example',
  ])('the address %j', async (email) => {
    await expectRefused(await login(JSON.stringify({ email })), 400, 'invalid-parameter')
  })

  test.each([
    ['a@b.example', 'a@b.example'],
    ['First.Last+tag@Mail.Shop.example', 'first.last+tag@mail.shop.example'],
    ["o'hara_x-1@xn--bcher-kva.example", "o'hara_x-1@xn--bcher-kva.example"],
  ])('but not %s', async (email, to) => {
    expect((await login(JSON.stringify({ email }))).status).toBe(200)
    await tokenOf(world, to)
    expect(world.mails.map((mail) => mail.to)).toEqual([to])
  })

  test('no address names the field that is missing', async () => {
    const { errors } = await (await login('{}')).json()
    expect(errors).toEqual([{ in: 'body', name: 'email', detail: 'expected this field, got none' }])
  })

  test.each([
    ['{}', 'invalid-parameter'],
    ['{"email":null}', 'invalid-parameter'],
    ['{"email":["a@b.example"]}', 'invalid-parameter'],
    ['{"email":{"$gt":""}}', 'invalid-parameter'],
    ['{"__proto__":{"email":"a@b.example"}}', 'invalid-parameter'],
    ['{"constructor":{"prototype":{"email":"a@b.example"}}}', 'invalid-parameter'],
    ['{"email":"a@b.example","emial":"a@b.example"}', 'invalid-parameter'],
    ['null', 'invalid-body'],
    ['[]', 'invalid-body'],
    ['"a@b.example"', 'invalid-body'],
    ['', 'invalid-body'],
    ['{"email":"a@b.example"', 'invalid-body'],
    ['{"email":"a@b.example","email":"c@evil.example"}', 'invalid-body'],
    ['{"email":"a@b.example","\\u0065mail":"c@evil.example"}', 'invalid-body'],
    ['['.repeat(7000), 'invalid-body'],
    ['\u00ff', 'invalid-body'],
  ])('the body %j', async (body, code) => {
    await expectRefused(await login(body), 400, code)
  })

  test('bytes that are not UTF-8', async () => {
    const bytes = Buffer.from('{"email":"a@b.example\xff"}', 'latin1')
    await expectRefused(await login(bytes), 400, 'invalid-body')
  })

  test('more than 16 KiB, with and without a length', async () => {
    const text = JSON.stringify({ email: 'a@b.example', pad: 'x'.repeat(17_000) })
    await expectRefused(await login(text), 413, 'payload-too-large')
    const stream = new Blob([text]).stream()
    const init = { method: 'POST', body: stream, headers: JSON_TYPE, duplex: 'half' as const }
    const streamed = await fetch(`${world.url}/api/v1/sellers/login`, init)
    await expectRefused(streamed, 413, 'payload-too-large')
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json, text/plain',
    'application/jsonp',
    'application/json; charset=utf-16',
    '',
  ])('the content type %j: a form could send it from anywhere', async (type) => {
    const answer = await login('{"email":"a@b.example"}', { 'Content-Type': type })
    await expectRefused(answer, 415, 'unsupported-media-type')
  })

  test.each([
    [{ Origin: 'https://evil.example' }],
    [{ Origin: 'null' }],
    [{ Origin: 'http://127.0.0.1:1' }],
    [{ 'Sec-Fetch-Site': 'cross-site' }],
    [{ 'Sec-Fetch-Site': 'same-site' }],
    [{ 'Sec-Fetch-Site': 'SAME-ORIGIN' }],
  ])('a write from elsewhere: %j', async (headers) => {
    const answer = await login('{"email":"a@b.example"}', { ...JSON_TYPE, ...headers })
    await expectRefused(answer, 403, 'cross-site')
  })

  test('the same checks guard every write of a seller', async () => {
    const headers = { ...JSON_TYPE, 'Sec-Fetch-Site': 'cross-site' }
    for (const [method, path] of [
      ['POST', 'session'],
      ['DELETE', 'session'],
      ['POST', 'claim'],
      ['POST', 'claim/x/check'],
      ['POST', 'opt-out'],
    ] as const) {
      const answer = await fetch(`${world.url}/api/v1/sellers/${path}`, { method, headers })
      await expectRefused(answer, 403, 'cross-site')
    }
  })

  test('but takes our own pages, and clients that are not browsers', async () => {
    const body = '{"email":"a@b.example"}'
    const own = [{ 'Sec-Fetch-Site': 'same-origin' }, { Origin: world.url }, {}]
    for (const headers of own) {
      expect((await login(body, { ...JSON_TYPE, ...headers })).status).toBe(200)
    }
  })

  test('a poisoned host: the link is on our own address', async () => {
    const body = JSON.stringify({ email: 'a@b.example' })
    await login(body, { ...JSON_TYPE, 'X-Forwarded-Host': 'evil.example' })
    await tokenOf(world, 'a@b.example')
    expect(world.mails[0]?.link).toMatch(new RegExp(`^${world.url}/sellers/sign-in\\?token=`))
    expect(world.mails[0]?.text).not.toContain('evil.example')
  })

  test('looking at the link twenty times does not use it up', async () => {
    await login('{"email":"looker@b.example"}')
    const token = await tokenOf(world, 'looker@b.example')
    const link = `${world.url}/sellers/sign-in?token=${token}`
    for (let look = 0; look < 20; look += 1)
      await fetch(link, { method: look % 2 === 0 ? 'GET' : 'HEAD' })
    const started = await fetch(`${world.url}/api/v1/sellers/session`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ token }),
    })
    expect(started.status).toBe(200)
  })

  test('methods that are not there', async () => {
    for (const [method, path] of [
      ['GET', 'login'],
      ['PUT', 'session'],
      ['DELETE', 'claim'],
      ['GET', 'claim/x/check'],
    ] as const) {
      const answer = await fetch(`${world.url}/api/v1/sellers/${path}`, { method })
      expect(answer.status).toBe(405)
    }
  })
})

describeStores('sign-in limits', ({ newPlace }) => {
  const openLimited = async (env: Record<string, string> = {}) => {
    const { config } = await newPlace()
    return openWorld({ env: { ...config, ...env } })
  }
  /** What was asked for is sent before the next is: of mails that wait for an address there is one. */
  const login = async (world: World, email: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${world.url}/api/v1/sellers/login`, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers },
      body: JSON.stringify({ email }),
    })
    await world.parts.ledger.mails.send()
    return answer
  }

  test('a client gets five links an hour for one mailbox, whatever tags it writes', async () => {
    const world = await openLimited()
    const statuses: number[] = []
    for (let n = 0; n < 6; n += 1)
      statuses.push((await login(world, n === 0 ? 'a@b.example' : `a+${n}@b.example`)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    const refused = await login(world, 'A@B.example')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000)
    expect((await login(world, 'other@b.example')).status).toBe(200)
    await tokenOf(world, 'other@b.example')
    await world.parts.ledger.mails.send()
    expect(world.mails.filter(({ to }) => /^a(?:\+\d)?@b\.example$/.test(to))).toHaveLength(5)
    await world.close()
  })

  test('strangers who use an address up cannot lock its owner out', async () => {
    const world = await openLimited({ TRUST_PROXY: '1' })
    const from = (n: number) => ({ 'X-Forwarded-For': `198.51.100.${n}` })
    for (let n = 0; n < 6; n += 1) await login(world, 'a@b.example', from(1))
    const owner = await login(world, 'a@b.example', from(2))
    expect(owner.status).toBe(200)
    await tokenOf(world, 'a@b.example', 6)
    // One more in ten minutes at most, whoever asks; who was sent one already waits for the hour.
    const stranger = await login(world, 'a@b.example', from(3))
    expect(stranger.status).toBe(429)
    expect(Number(stranger.headers.get('retry-after'))).toBeLessThanOrEqual(600)
    const had = (n: number) =>
      world.parts.limits.isUsedUp('login_sent', `198.51.100.${n} a@b.example`)
    expect([await had(2), await had(3)]).toEqual([true, false])
    const again = await login(world, 'a@b.example', from(2))
    expect(again.status).toBe(429)
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(3000)
    await world.parts.ledger.mails.send()
    expect(world.mails.filter(({ to }) => to === 'a@b.example')).toHaveLength(6)
    await world.close()
  })

  test('a client gets twenty an hour; an IPv6 client cannot rotate within its /64', async () => {
    const world = await openLimited({ TRUST_PROXY: '1' })
    const from = (n: number) => ({ 'X-Forwarded-For': `2001:db8:1:2::${n.toString(16)}` })
    const statuses: number[] = []
    for (let n = 1; n <= 22; n += 1)
      statuses.push((await login(world, `a${n}@b.example`, from(n))).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    const mapped = { 'X-Forwarded-For': '::ffff:198.51.100.7' }
    expect((await login(world, 'z@b.example', mapped)).status).toBe(200)
    await world.close()
  })

  test('ten checks an hour a claim', async () => {
    const { config } = await newPlace()
    const world = await openWorld({
      env: config,
      listings: [liveListing('x402.shop', 'https://api.shop.example/')],
    })
    const visitor = createVisitor(world)
    await visitor.signIn('a@rival.example')
    const started = await visitor.post('/claim', {
      listing_id: 'x402.shop',
      method: 'contact_email',
    })
    const { claim } = await started.json()
    const statuses: number[] = []
    for (let n = 0; n < 11; n += 1)
      statuses.push((await visitor.post(`/claim/${claim.id}/check`, undefined)).status)
    expect(statuses).toEqual([...Array(10).fill(200), 429])
    await world.close()
  })
})
