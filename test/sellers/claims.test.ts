import { gzipSync } from 'node:zlib'
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test as testBoth,
} from 'vitest'
import { reverifyClaims } from '../../functions/sellers/claim-checks.ts'
import { readLedgerFacts } from '../../functions/service/ledger-facts.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { liveListing } from '../support/live-listing.ts'
import { type Site, startSite } from '../support/site.ts'
import { describeBothStores } from '../support/stores.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const MANY = Array.from({ length: 25 }, (_, n) =>
  liveListing(`api.n${n}`, `https://n${n}.example/`),
)
const RECORD = '_listing-claim.api.shop.example'

describeBothStores('claiming a listing', ({ newPlace, plainTest: test }) => {
  let world: World
  let site: Site
  let dns: DnsServer
  let second: DnsServer
  let ann: Visitor
  let bob: Visitor

  beforeAll(async () => {
    site = await startSite()
    dns = await startDnsServer()
    second = await startDnsServer()
    dns.a.set('shop.test-site.example', ['127.0.0.1'])
    second.a.set('shop.test-site.example', ['127.0.0.1'])
    const { config } = await newPlace()
    world = await openWorld({
      env: {
        ...config,
        DNS_SERVERS: `${dns.address},${second.address}`,
        RATE_LIMITS: ALL_LIMITS_OFF,
        UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
      },
      listings: [
        local(),
        liveListing('x402.named', `http://shop.test-site.example:${site.port}/`),
        liveListing('x402.shop', 'https://api.shop.example/v1'),
        liveListing('mcp.repo', 'https://github.com/shop/server'),
        liveListing('mcp.tenant', 'https://shop.vercel.app/mcp'),
        liveListing('mcp.suffix', 'https://vercel.app/mcp'),
        liveListing('mcp.country', 'https://co.uk/mcp'),
        liveListing('mcp.mailhost', 'https://api.proton.me/'),
        liveListing('mcp.customer', 'https://ann--agent.modal.run/mcp'),
        liveListing('mcp.customers', 'https://modal.run/mcp'),
        ...MANY,
      ],
    })
    ann = createVisitor(world)
    bob = createVisitor(world)
    await ann.signIn('ann@shop.example')
    await bob.signIn('bob@rival.example')
  })
  afterAll(async () => {
    await world.close()
    await site.close()
    dns.close()
    second.close()
  })
  beforeEach(async () => {
    for (const server of [dns, second]) {
      server.txt.clear()
      server.mood = 'well'
    }
    site.answer = (_req, res) => res.writeHead(404).end('nothing here')
    await world.parts.ledger.store.db.deleteFrom('claim').execute()
    await world.parts.ledger.store.db.deleteFrom('opt_out').execute()
    world.mails.length = 0
  })

  const start = async (visitor: Visitor, listing_id: string, method?: string) => {
    const answer = await visitor.post('/claim', { listing_id, ...(method && { method }) })
    expect(answer.status).toBe(200)
    return answer.json()
  }
  const check = async (visitor: Visitor, id: string) => {
    const answer = await visitor.post(`/claim/${id}/check`, undefined)
    expect(answer.status).toBe(200)
    return answer.json()
  }
  const prove = async (visitor: Visitor, id: string) => {
    const started = await start(visitor, id)
    site.publish(started.token)
    return { ...started, ...(await check(visitor, started.claim.id)) }
  }
  const local = () => liveListing('x402.local', `${site.url}/paid?x=1`)
  /** The next build leaves it out. */
  const takeOut = () => {
    const listing = local()
    world.listings.delete(listing.id)
    world.optedOut.set(listing.id, { id: listing.id, name: listing.name, url: listing.url })
    onTestFinished(() => {
      world.optedOut.delete(listing.id)
      world.listings.set(listing.id, listing)
    })
    return listing
  }
  const mailsTo = async (email: string, count: number) => {
    await world.parts.ledger.mails.send()
    const mails = world.mails.filter(({ to }) => to === email)
    expect(mails).toHaveLength(count)
    return mails
  }

  describe('by a file', () => {
    testBoth('the default method: publish the token, check, own the listing', async () => {
      const { claim, token, instructions } = await start(ann, 'x402.local')
      expect(claim).toMatchObject({
        listing_id: 'x402.local',
        method: 'well_known',
        state: 'pending',
      })
      expect(Date.parse(claim.expires_at) - Date.parse(claim.created_at)).toBe(72 * HOUR)
      expect(instructions.url).toBe(`${site.url}/.well-known/listing-claim.txt`)
      expect(instructions.value).toBe(token)
      expect(instructions.steps.join('\n')).toContain(`echo '${token}' >`)
      const codes = instructions.guide.map(({ code }: { code?: string }) => code)
      expect(codes).toEqual([
        token,
        expect.stringContaining(token),
        `curl -i ${instructions.url}`,
        undefined,
      ])
      expect(claim.last_check).toBeUndefined()
      site.publish(`# claims\n  ${token}  \r\nother-token\n`)
      const { claim: after, result } = await check(ann, claim.id)
      expect(result).toMatchObject({ verified: true, method: 'well_known', reason: null })
      expect(after.state).toBe('verified')
      expect(after.verified_at).toBe(after.last_checked_at)
      expect(after.last_check).toEqual(result)
      const [mail] = await mailsTo('ann@shop.example', 1)
      expect(mail?.subject).toContain('x402.local')
    })

    test.each<[string, (token: string) => void, string, RegExp]>([
      ['a 404', () => {}, 'http_status', /status 404/],
      [
        'a token with more text behind it',
        (t) => site.publish(`${t} and more`),
        'token_missing',
        /and more/,
      ],
      ['another token', () => site.publish('x'.repeat(43)), 'token_missing', /xxxx/],
      ['an empty file', () => site.publish(''), 'token_missing', /0 bytes/],
      ['a page', (t) => site.publish(`<p>\n${t}\n</p>`, 'text/html'), 'not_text', /text\/html/],
      ['JSON', (t) => site.publish(`\n${t}\n`, 'application/json'), 'not_text', /json/],
      ['5 KB', (t) => site.publish(`${t}\n${'x'.repeat(5000)}`), 'too_large', /more than 4096/],
      [
        'compressed text',
        (t) => {
          site.answer = (_req, res) =>
            res
              .writeHead(200, { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' })
              .end(gzipSync(t))
        },
        'not_text',
        /text\/plain/,
      ],
      [
        'a redirect to another host',
        () => {
          site.answer = (_req, res) =>
            res.writeHead(302, { Location: 'https://evil.example/token' }).end()
        },
        'redirected_elsewhere',
        /evil\.example/,
      ],
      [
        'a redirect to a cloud metadata address',
        () => {
          site.answer = (_req, res) =>
            res.writeHead(302, { Location: 'http://169.254.169.254/latest' }).end()
        },
        'redirected_elsewhere',
        /169\.254/,
      ],
      [
        'a connection that breaks',
        () => {
          site.answer = (req) => req.socket.destroy()
        },
        'unreachable',
        /connection failed/,
      ],
    ])(
      '%s is not the proof, and the answer says what was seen',
      async (_, publish, reason, seen) => {
        const { claim, token } = await start(ann, 'x402.local')
        publish(token)
        const { claim: after, result } = await check(ann, claim.id)
        expect(result).toMatchObject({ verified: false, reason })
        expect(result.observed).toMatch(seen)
        expect(result.expected).toContain(token)
        expect(result.next).not.toBe('')
        expect(after.state).toBe('pending')
        const { claims } = await (await ann.get('/claim')).json()
        expect(claims[0].last_check).toEqual(result)
      },
    )

    test('a redirect loop within the origin ends', async () => {
      const { claim } = await start(ann, 'x402.local')
      let hits = 0
      site.answer = (req, res) => {
        hits += 1
        res.writeHead(302, { Location: req.url }).end()
      }
      const { result } = await check(ann, claim.id)
      expect(result.reason).toBe('redirected_elsewhere')
      expect(hits).toBe(4)
    })

    test('a host whose name resolves is asked at that host', async () => {
      const { instructions, result } = await prove(ann, 'x402.named')
      expect(instructions.url).toContain('shop.test-site.example')
      expect(result.verified).toBe(true)
    })

    test('control characters of a hostile file are shown, not sent', async () => {
      const { claim } = await start(ann, 'x402.local')
      site.publish('\u001b[31mred\u0000\u202e')
      const { result } = await check(ann, claim.id)
      expect(result.observed).toContain('\\u001b[31mred\\u0000\\u202e')
    })
  })

  describe('by a DNS record', () => {
    test('the record with the token proves it, also split in two strings', async () => {
      const { claim, token, instructions } = await start(ann, 'x402.shop', 'dns_txt')
      expect(instructions).toMatchObject({ record: RECORD, value: `listing-claim=${token}` })
      for (const server of [dns, second])
        server.txt.set(RECORD, ['v=other', [`listing-claim=${token.slice(0, 9)}`, token.slice(9)]])
      expect((await check(ann, claim.id)).result).toMatchObject({ verified: true, reason: null })
    })

    test.each<[string, (token: string) => void, string]>([
      ['no record', () => {}, 'record_missing'],
      [
        'a record at the domain itself',
        (t) => both('shop.example', `listing-claim=${t}`),
        'record_missing',
      ],
      ['an old token', () => both(RECORD, `listing-claim=${'y'.repeat(43)}`), 'record_differs'],
      ['the token without its prefix', (t) => both(RECORD, t), 'record_differs'],
      [
        'a token with more behind it',
        (t) => both(RECORD, `listing-claim=${t} x`),
        'record_differs',
      ],
      [
        'a record only one of two servers gives',
        (t) => dns.txt.set(RECORD, [`listing-claim=${t}`]),
        'resolvers_disagree',
      ],
      [
        'a server that fails',
        (t) => {
          both(RECORD, `listing-claim=${t}`)
          second.mood = 'servfail'
        },
        'dns_failed',
      ],
    ])('%s is not the proof', async (_, publish, reason) => {
      const { claim, token } = await start(ann, 'x402.shop', 'dns_txt')
      publish(token)
      const { claim: after, result } = await check(ann, claim.id)
      expect(result).toMatchObject({ verified: false, reason })
      expect(after.state).toBe('pending')
    })

    function both(name: string, text: string) {
      for (const server of [dns, second]) server.txt.set(name, [text])
    }
  })

  describe('by an address at the domain', () => {
    test("the seller's own proven address decides", async () => {
      const mine = await start(ann, 'x402.shop', 'contact_email')
      expect(mine.instructions.address).toBe('@shop.example')
      expect((await check(ann, mine.claim.id)).result.verified).toBe(true)
      const theirs = await start(bob, 'x402.shop', 'contact_email')
      const { result } = await check(bob, theirs.claim.id)
      expect(result).toMatchObject({
        verified: false,
        reason: 'address_elsewhere',
        observed: 'bob@rival.example',
      })
    })
  })

  test.each([
    ['mcp.repo', 'well_known', /platform/],
    ['mcp.repo', 'dns_txt', /platform/],
    ['mcp.suffix', 'well_known', /public suffix/],
    ['mcp.country', 'well_known', /public suffix/],
    ['mcp.tenant', 'dns_txt', /only by well_known/],
    ['mcp.tenant', 'contact_email', /only by well_known/],
    ['mcp.mailhost', 'contact_email', /Anybody can have an address/],
    ['mcp.customer', 'dns_txt', /only by well_known/],
    ['mcp.customer', 'contact_email', /only by well_known/],
    ['mcp.customers', 'well_known', /public suffix/],
    ['x402.local', 'dns_txt', /address or a local name/],
    ['x402.local', 'contact_email', /address or a local name/],
  ])('%s cannot be claimed by %s, and the answer says why', async (listing_id, method, why) => {
    const answer = await ann.post('/claim', { listing_id, method })
    expect(answer.status).toBe(422)
    const problem = await answer.json()
    expect(problem.code).toBe('claim-method-unavailable')
    expect(problem.detail).toMatch(why)
  })

  test('a tenant of a shared suffix claims at its own host: shop.vercel.app', async () => {
    const { instructions } = await start(ann, 'mcp.tenant')
    expect(instructions.url).toBe('https://shop.vercel.app/.well-known/listing-claim.txt')
  })

  test.each([
    ['metod', 'dns_txt', 'did you mean method?'],
    ['host', 'evil.example', 'unknown field'],
    ['token', 'mine', 'unknown field'],
    ['state', 'verified', 'unknown field'],
    ['seller_id', 'x', 'unknown field'],
  ])(
    'a field %s in the body is refused by name, and nothing is claimed',
    async (name, value, why) => {
      const answer = await ann.post('/claim', { listing_id: 'x402.shop', [name]: value })
      expect(answer.status).toBe(400)
      const { code, errors } = await answer.json()
      expect(code).toBe('invalid-parameter')
      expect(errors).toMatchObject([{ in: 'body', name, allowed: ['listing_id', 'method'] }])
      expect(errors[0].detail).toContain(why)
      expect((await (await ann.get('/claim')).json()).claims).toEqual([])
    },
  )

  test('asking again gives the same open claim and the same token', async () => {
    const first = await start(ann, 'x402.shop')
    expect(await start(ann, 'x402.shop')).toEqual(first)
    const other = await start(bob, 'x402.shop')
    expect(other.token).not.toBe(first.token)
  })

  testBoth(
    'another method continues the open claim, with the same token, and what proved it is kept',
    async () => {
      const first = await start(ann, 'x402.shop')
      await check(ann, first.claim.id)
      const { claim, token } = await start(ann, 'x402.shop', 'dns_txt')
      expect([claim.id, claim.method, token]).toEqual([first.claim.id, 'dns_txt', first.token])
      expect(claim.last_check).toBeUndefined()
      expect((await (await ann.get('/claim')).json()).claims).toHaveLength(1)
      await start(ann, 'x402.shop', 'contact_email')
      expect((await check(ann, claim.id)).claim).toMatchObject({
        ...{ state: 'verified', method: 'contact_email' },
      })
      // What makes it theirs stays until something else does.
      const again = await start(ann, 'x402.shop', 'dns_txt')
      expect(again.claim).toMatchObject({ state: 'pending', method: 'dns_txt' })
      const { claims } = await (await ann.get('/claim')).json()
      expect(claims.map(({ state }: { state: string }) => state).sort()).toEqual([
        'pending',
        'verified',
      ])
    },
  )

  test('a proof that was under way when another method was chosen is kept as what it was', async () => {
    const { claim, token } = await start(ann, 'x402.local')
    site.answer = async (_req, res) => {
      const { db } = world.parts.ledger.store
      await db.updateTable('claim').set({ method: 'dns_txt' }).where('id', '=', claim.id).execute()
      res.writeHead(200, { 'Content-Type': 'text/plain' }).end(token)
    }
    expect((await check(ann, claim.id)).claim).toMatchObject({
      ...{ state: 'verified', method: 'well_known' },
    })
  })

  test("another seller's claim is not a claim", async () => {
    const { claim } = await start(ann, 'x402.local')
    const answers = await Promise.all(
      [claim.id, crypto.randomUUID(), '__proto__', '..%2f..%2fx', 'x'.repeat(500)].map((id) =>
        bob.post(`/claim/${id}/check`, undefined),
      ),
    )
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
    expect(new Set(bodies).size).toBe(1)
    expect(bodies[0]).toContain('claim-not-found')
  })

  test('a claim nobody proves ends after 72 hours; its token is void from then on', async () => {
    const { claim, token } = await start(ann, 'x402.local')
    site.publish(token)
    world.clock.move(72 * HOUR + 1)
    const { claim: after, result } = await check(ann, claim.id)
    expect(after.state).toBe('expired')
    expect(result).toMatchObject({ verified: false, reason: 'claim_expired' })
    world.clock.move(-DAY)
    expect((await check(ann, claim.id)).result.reason).toBe('claim_expired')
    world.clock.move(-48 * HOUR)
    expect((await start(ann, 'x402.local')).token).not.toBe(token)
  })

  testBoth(
    'a later proof by another seller supersedes the earlier, and both are told',
    async () => {
      const mine = await prove(ann, 'x402.local')
      const theirs = await prove(bob, 'x402.local')
      expect(theirs.claim.state).toBe('verified')
      const { claims } = await (await ann.get('/claim')).json()
      expect(claims[0].state).toBe('superseded')
      const [, reported] = await mailsTo('ann@shop.example', 2)
      expect(reported?.subject).toContain('Somebody else')
      await mailsTo('bob@rival.example', 1)
      site.publish(mine.token)
      expect((await check(ann, mine.claim.id)).result.reason).toBe('claim_superseded')
      expect((await check(bob, theirs.claim.id)).result.verified).toBe(false)
    },
  )

  testBoth('two sellers with twenty-five parallel checks each: one owner at the end', async () => {
    const mine = await start(ann, 'x402.local')
    const theirs = await start(bob, 'x402.local')
    site.publish(`${mine.token}\n${theirs.token}\n`)
    const checks = await Promise.all(
      Array.from({ length: 25 }, () => [
        check(ann, mine.claim.id),
        check(bob, theirs.claim.id),
      ]).flat(),
    )
    expect(checks.some(({ result }) => result.verified)).toBe(true)
    const rows = await world.parts.ledger.store.db.selectFrom('claim').select('state').execute()
    expect(rows.map(({ state }) => state).sort()).toEqual(['superseded', 'verified'])
  })

  testBoth('twenty open claims a seller, also when all are asked for at once', async () => {
    const answers = await Promise.all(MANY.map(({ id }) => ann.post('/claim', { listing_id: id })))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(20).fill(200), ...Array(5).fill(429)])
    const open = await world.parts.ledger.store.db.selectFrom('claim').selectAll().execute()
    expect(open).toHaveLength(20)
    const refused = answers.find(({ status }) => status === 429)
    const seconds = Number(refused?.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(71 * 3600)
    expect(refused?.headers.get('ratelimit-policy')).toBe('"open_claims";q=20;w=259200')
    expect(refused?.headers.get('ratelimit')).toBe(`"open_claims";r=0;t=${seconds}`)
  })

  test('the daily check finds a proof gone, warns once, and lets the claim lapse after seven days', async () => {
    const { claim, token } = await prove(ann, 'x402.local')
    await mailsTo('ann@shop.example', 1)
    world.clock.move(DAY)
    expect(await reverifyClaims(world.parts)).toEqual({ checked: 1, failing: 0, lapsed: 0 })
    site.publish('gone')
    for (let day = 0; day < 7; day += 1) {
      world.clock.move(DAY)
      expect(await reverifyClaims(world.parts)).toEqual({ checked: 1, failing: 1, lapsed: 0 })
    }
    await mailsTo('ann@shop.example', 2)
    world.clock.move(DAY)
    expect(await reverifyClaims(world.parts)).toEqual({ checked: 1, failing: 0, lapsed: 1 })
    const [, , lapsed] = await mailsTo('ann@shop.example', 3)
    expect(lapsed?.subject).toContain('lapsed')
    site.publish(token)
    expect((await check(ann, claim.id)).result.reason).toBe('claim_lapsed')
    world.clock.move(-9 * DAY)
  })

  test('a listing that now points to another host was never proved there: the claim lapses at once', async () => {
    await prove(ann, 'x402.local')
    world.clock.move(DAY)
    const moved = liveListing('x402.local', `http://shop.test-site.example:${site.port}/`)
    const release = { ...world.parts.release(), listings: new Map([[moved.id, moved]]) }
    const tally = await reverifyClaims({ ...world.parts, release: () => release })
    expect(tally).toEqual({ checked: 1, failing: 0, lapsed: 1 })
    world.clock.move(-DAY)
  })

  test('a listing that moved leaves its claim behind at once, and whoever proves the new host owns it', async () => {
    await prove(ann, 'x402.local')
    const moved = liveListing('x402.local', `http://shop.test-site.example:${site.port}/`)
    world.listings.set('x402.local', moved)
    onTestFinished(() => void world.listings.set('x402.local', local()))
    expect((await (await ann.get('/me/analytics')).json()).basic.listings).toEqual([])
    expect((await (await ann.get('/me')).json()).stats.listings).toBe(0)
    expect((await ann.post('/opt-out', { listing_id: 'x402.local' })).status).toBe(404)
    const theirs = await prove(bob, 'x402.local')
    expect(theirs.instructions.url).toContain('shop.test-site.example')
    expect(theirs.result.verified).toBe(true)
    expect((await bob.post('/opt-out', { listing_id: 'x402.local' })).status).toBe(200)
    const { db } = world.parts.ledger.store
    const out = await db.selectFrom('opt_out').select('host').execute()
    expect(out).toEqual([{ host: 'shop.test-site.example' }])
  })

  test('an owner says which other listing of theirs a listing is now', async () => {
    const move = async (listing_id: string, moved_to: string, removed = true) => {
      const answer = await ann.post('/opt-out', { listing_id, moved_to, removed })
      return [answer.status, await answer.json()]
    }
    for (const id of ['x402.local', 'x402.named']) {
      await prove(ann, id)
      if (id === 'x402.local')
        expect(await move(id, 'x402.named')).toMatchObject([400, { code: 'invalid-parameter' }])
    }
    expect(await move('x402.local', 'x402.local')).toMatchObject([400, {}])
    expect(await move('x402.local', 'x402.named', false)).toMatchObject([400, {}])
    expect(await move('x402.local', 'x402.named')).toMatchObject([200, { moved_to: 'x402.named' }])
    // Not back again: that would be a circle.
    expect(await move('x402.named', 'x402.local')).toMatchObject([400, {}])
    const facts = await readLedgerFacts(world.parts.ledger.store, world.clock.now())
    expect(facts.moved).toEqual(new Map([['x402.local', 'x402.named']]))
    const minutesAgo = (world.clock.now() - (facts.provedAt.get('x402.named') ?? 0)) / 60_000
    expect(Math.floor(minutesAgo)).toBe(0)
  })

  test('a listing taken out can be claimed and brought back by whoever proves its host', async () => {
    const listing = takeOut()
    const { db } = world.parts.ledger.store
    const row = { listing_id: listing.id, host: '127.0.0.1', created_at: 0 }
    await db.insertInto('opt_out').values(row).execute()
    expect((await prove(bob, 'x402.local')).result.verified).toBe(true)
    const back = await bob.post('/opt-out', { listing_id: 'x402.local', removed: false })
    expect(await back.json()).toMatchObject({ removed: false, effective: 'next_build' })
    expect(await db.selectFrom('opt_out').selectAll().execute()).toEqual([])
  })

  test('the daily check covers listings that were taken out, and lets claims on vanished ones lapse', async () => {
    await prove(ann, 'x402.local')
    takeOut()
    onTestFinished(() => world.clock.move(-9 * DAY))
    world.clock.move(DAY)
    expect(await reverifyClaims(world.parts)).toEqual({ checked: 1, failing: 0, lapsed: 0 })
    world.optedOut.delete('x402.local')
    world.clock.move(DAY)
    expect(await reverifyClaims(world.parts)).toEqual({ checked: 1, failing: 1, lapsed: 0 })
    world.clock.move(7 * DAY)
    expect(await reverifyClaims(world.parts)).toEqual({ checked: 1, failing: 0, lapsed: 1 })
  })

  test('a proof that comes back in time ends the warning', async () => {
    const { claim, token } = await prove(ann, 'x402.local')
    site.publish('gone')
    world.clock.move(DAY)
    await reverifyClaims(world.parts)
    const { claims } = await (await ann.get('/me')).json()
    expect(claims[0]).toMatchObject({ state: 'verified', last_check: { verified: false } })
    expect(claims[0].last_check.observed).toContain('gone')
    const { lapses_at, last_check } = claims[0]
    expect(Date.parse(lapses_at)).toBe(Date.parse(last_check.checked_at) + 7 * DAY)
    site.publish(token)
    expect((await check(ann, claim.id)).result.verified).toBe(true)
    const row = await world.parts.ledger.store.db
      .selectFrom('claim')
      .select('failing_since')
      .executeTakeFirstOrThrow()
    expect(row.failing_since).toBeNull()
    world.clock.move(-DAY)
  })

  test('analytics and opt-out are for the owner alone', async () => {
    const { claim, token } = await start(ann, 'x402.local')
    expect((await ann.post('/opt-out', { listing_id: 'x402.local' })).status).toBe(404)
    site.publish(token)
    await check(ann, claim.id)
    // The first of thirty days, the day before, the first of ninety, and the day before.
    for (const days of [29, 30, 89, 90]) {
      world.clock.move(-days * DAY)
      await fetch(`${world.url}/go/x402.local?src=web`, { redirect: 'manual' })
      world.clock.move(days * DAY)
    }
    await fetch(`${world.url}/go/x402.local?src=web`, { redirect: 'manual' })
    await fetch(`${world.url}/go/x402.local?src=api`, { redirect: 'manual' })
    await fetch(`${world.url}/go/x402.local`, { redirect: 'manual' })
    await fetch(`${world.url}/go/x402.local`, { method: 'HEAD', redirect: 'manual' })
    world.parts.ledger.usage.called('x402.local')
    world.parts.ledger.usage.searched(['x402.local', 'x402.shop'], 'api')
    await world.parts.ledger.usage.flush()
    const analytics = await (await ann.get('/me/analytics')).json()
    const dateOf = (days: number) =>
      new Date(world.clock.now() - days * DAY).toISOString().slice(0, 10)
    expect(analytics).toEqual({
      basic: {
        listings: [
          {
            listing_id: 'x402.local',
            clicks: {
              total: 6,
              by_day: [89, 30, 29, 0].map((days) => ({
                date: dateOf(days),
                clicks: days === 0 ? 3 : 1,
              })),
              by_src: { api: 1, unknown: 1, web: 4 },
            },
            calls: 1,
            search_impressions: 1,
            last_30_days: { clicks: 4, calls: 1, search_impressions: 1 },
            deliveries: [],
          },
        ],
      },
      advanced: { status: 'stub' },
    })
    const { stats } = await (await ann.get('/me')).json()
    expect(stats).toEqual({ listings: 1, clicks_30d: 4, calls_30d: 1 })
    expect((await (await bob.get('/me/analytics')).json()).basic.listings).toEqual([])
    expect((await bob.post('/opt-out', { listing_id: 'x402.local' })).status).toBe(404)
    const out = await ann.post('/opt-out', { listing_id: 'x402.local' })
    expect(await out.json()).toMatchObject({ removed: true, effective: 'next_build' })
  })

  testBoth(
    'a removal that waits is in `me` until it is taken back, and says when it has happened',
    async () => {
      const { claim, token } = await start(ann, 'x402.local')
      const removal = async () => (await (await ann.get('/me')).json()).claims[0].removal
      site.publish(token)
      await check(ann, claim.id)
      expect(await removal()).toBeNull()
      const since = new Date(world.clock.now()).toISOString().slice(0, 16)
      await ann.post('/opt-out', { listing_id: 'x402.local' })
      expect(await removal()).toEqual({
        since: expect.stringContaining(since),
        effective: 'next_build',
      })
      takeOut()
      expect(await removal()).toMatchObject({ effective: 'now' })
      await ann.post('/opt-out', { listing_id: 'x402.local', removed: false })
      expect(await removal()).toBeNull()
    },
  )
})
