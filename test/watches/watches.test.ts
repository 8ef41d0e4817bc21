import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { listVerdicts } from '../../functions/net/guard.ts'
import type { Resolver } from '../../functions/ports/resolver.ts'
import { recordProof } from '../../functions/sellers/claims/claim-transitions.ts'
import { createWatchPage } from '../../functions/watches/watch-form.ts'
import { startWatch } from '../../functions/watches/watch-store.ts'
import { WATCH_EVENTS } from '../../src/domain/watches/watch.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { describeStores } from '../support/stores.ts'
import type { World } from '../support/world.ts'
import { answerWell, createTeller, openWatchWorld, startReceiver } from './watch-world.ts'

const ID = 'x402.shop'
const PAYEE = `eip155:8453:0x${'a1'.repeat(20)}`
const DAY = 86_400_000
const CHEAP = { [ID]: { price: '$0.01 per call', probe: 'spoke', payees: PAYEE } }
const DEAR = { [ID]: { price: '$0.05 per call', probe: 'spoke', payees: PAYEE } }
const DEAD = { [ID]: { price: '$0.05 per call', probe: 'dead', payees: PAYEE } }

describeStores('watches', ({ newPlace }) => {
  let at: Awaited<ReturnType<typeof openWatchWorld>>
  let world: World
  let hook: Awaited<ReturnType<typeof startReceiver>>
  beforeEach(async () => {
    at = await openWatchWorld(await newPlace(), { listings: [ID] })
    world = at.world
    hook = await startReceiver()
  })
  afterEach(async () => {
    await at.close()
    await world.close()
    await hook.close()
  })

  const send = (body: unknown) =>
    fetch(`${world.url}/api/v1/watches`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const watch = async (deliver: object, more: object = {}) => {
    const answer = await send({ target: { listing: ID }, deliver, ...more })
    expect(answer.status).toBe(202)
    const started = await answer.json()
    await world.parts.ledger.deliveries.deliver()
    return started
  }
  const row = (id: string) =>
    world.parts.ledger.store.db
      .selectFrom('watch')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
  /** A mail watch that somebody confirmed. */
  const liveMail = async (email: string, more: object = {}) => {
    const { id } = await watch({ email }, more)
    const { db } = world.parts.ledger.store
    await db.updateTable('watch').set({ state: 'live' }).where('id', '=', id).execute()
    world.mails.splice(0)
    return id as string
  }

  test('a webhook proves itself by a challenge and is told of a release, signed', async () => {
    await at.publish('a', CHEAP)
    const { id, secret, token } = await watch({ webhook: `${hook.url}/in` })
    expect(await row(id)).toMatchObject({ state: 'live' })
    await at.publish('b', DEAR)
    const [news] = hook.news()
    expect(hook.received.every(({ isSignedBy }) => isSignedBy(secret))).toBe(true)
    expect(news?.body.data).toMatchObject({
      watch: { id, target: { listing: ID } },
      changes: [
        {
          ...{ id: ID, change: 'changed', page: `${world.url}/listing/${ID}` },
          facts: { price: { was: '$0.01 per call', is: '$0.05 per call' } },
        },
      ],
      more: 0,
    })
    await at.publish('c', DEAR)
    expect(hook.news()).toHaveLength(1)
    expect((await fetch(`${world.url}/api/v1/watches/${token}`)).status).toBe(200)
    const ended = await fetch(`${world.url}/api/v1/watches/${token}`, { method: 'DELETE' })
    expect(ended.status).toBe(204)
    expect((await fetch(`${world.url}/api/v1/watches/${token}`)).status).toBe(400)
    await at.publish('d', DEAD)
    expect(hook.news()).toHaveLength(1)
  })

  test('a mailbox gets nothing but a question before it confirms, and the question quotes nobody', async () => {
    await at.publish('a', CHEAP)
    const { id, token } = await watch({ email: 'Ann@mail.example' })
    expect(token).toBeUndefined()
    await at.publish('b', DEAR)
    expect(world.mails).toHaveLength(1)
    const [mail] = world.mails
    expect(mail?.to).toBe('ann@mail.example')
    expect(mail?.text).not.toContain(ID)
    expect(await row(id)).toMatchObject({ state: 'waiting' })
  })

  test('the page of a mail’s link starts a watch and ends it, for its own form alone', async () => {
    const page = createWatchPage(world.parts)
    const site = createServer((req, res) => {
      page(req, res).then((shown) => res.end(JSON.stringify(shown)))
    }).listen(0, '127.0.0.1')
    await once(site, 'listening')
    const { port } = site.address() as AddressInfo
    const press = async (query: string, fields: Record<string, string>, headers = {}) => {
      const body = new URLSearchParams(fields)
      const url = `http://127.0.0.1:${port}/watch${query}`
      return (await (await fetch(url, { method: 'POST', body, headers })).json()).answer
    }
    const asked = await press('', { target: ID, email: 'ann@shop.example' })
    expect(asked).toMatchObject({ kind: 'taken', started: { state: 'waiting' } })
    const { id } = asked.started
    const token = (await row(id))?.token ?? ''
    const act = (act: string, headers = {}) => press(`?token=${token}`, { token, id, act }, headers)
    const elsewhere = await act('confirm', { origin: 'https://elsewhere.example' })
    expect(elsewhere).toMatchObject({ kind: 'refused', code: 'cross-site' })
    expect(await row(id)).toMatchObject({ state: 'waiting' })
    expect(await act('confirm')).toMatchObject({ kind: 'own', said: 'Thank you.' })
    expect(await row(id)).toMatchObject({ state: 'live' })
    expect(await act('end')).toMatchObject({ kind: 'refused', reason: 'The watch has ended.' })
    expect(await row(id)).toBeUndefined()
    expect(await act('confirm')).toMatchObject({ kind: 'refused', code: 'token-invalid' })
    site.closeAllConnections()
    site.close()
  })

  test('news by mail says what was and what is, and one click ends it', async () => {
    await at.publish('a', CHEAP)
    await liveMail('ann@mail.example')
    await at.publish('b', DEAR)
    const [mail] = world.mails
    expect(mail?.text).toContain('Price: $0.01 per call -> $0.05 per call')
    const ended = await fetch(mail?.unsubscribe ?? '', {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    })
    expect(ended.status).toBe(204)
    await at.publish('c', DEAD)
    expect(world.mails).toHaveLength(1)
  })

  test('each watch hears its own events alone; whoever is paid can be watched', async () => {
    await at.publish('a', CHEAP)
    for (const event of WATCH_EVENTS) await liveMail(`${event}@mail.example`, { events: [event] })
    await liveMail('payee@mail.example', { target: { payee: PAYEE.replace('a1', 'A1') } })
    const told = async (folder: string, facts: Parameters<typeof at.publish>[1]) => {
      world.mails.splice(0)
      await at.publish(folder, facts)
      return world.mails.map(({ to }) => to.split('@')[0]).sort()
    }
    expect(await told('b', DEAR)).toEqual(['payee', 'price'])
    expect(await told('c', DEAD)).toEqual(['payee', 'probe'])
    expect(await told('d', { [ID]: { ...DEAD[ID], tools_changed: 'Tools added: a.' } })).toEqual([
      'changed',
      'payee',
    ])
    expect(await told('e', {})).toEqual(['removed'])
  })

  test('a search hears of what joins it, changes in it and leaves it, and of nothing else', async () => {
    const other = { 'x402.other': { price: '$1' } }
    await at.publish('a', { ...CHEAP, ...other })
    const id = await liveMail('search@mail.example')
    const { db } = world.parts.ledger.store
    const target = { kind: 'query' as const, target: 'q=shop' }
    await db.updateTable('watch').set(target).where('id', '=', id).execute()
    const told = async (folder: string, facts: Parameters<typeof at.publish>[1]) => {
      world.mails.splice(0)
      await at.publish(folder, facts)
      return world.mails.map(({ subject }) => subject)
    }
    expect(await told('b', CHEAP)).toEqual([])
    expect(await told('c', other)).toEqual([`${ID} removed`])
    expect(await told('d', { ...DEAR, ...other })).toEqual([`${ID} added`])
    expect(await told('e', CHEAP)).toEqual([`${ID} changed`])
  })

  /** The four tries that follow the first one. */
  const failUntilGone = async () => {
    for (const seconds of [5, 15, 60, 300]) {
      world.clock.move(seconds * 1000)
      await world.parts.ledger.deliveries.deliver()
    }
  }

  test('a webhook of nobody’s mailbox that is paused says so to who has its token', async () => {
    hook.answers((_req, res) => res.writeHead(410).end())
    await at.publish('a', CHEAP)
    const { id, token } = await watch({ webhook: hook.url })
    await failUntilGone()
    const says = async () => {
      const { watches } = await (await fetch(`${world.url}/api/v1/watches/${token}`)).json()
      return watches.map((each: { state: string; reason?: string }) => [each.state, each.reason])
    }
    const reason = 'the webhook answered 410 at the 5th try'
    expect([(await row(id))?.state, await says()]).toEqual(['paused', [['paused', reason]]])
  })

  test('owners of a claim are told of what they must know, without asking', async () => {
    const { store } = world.parts.ledger
    const now = world.clock.now()
    await store.db
      .insertInto('seller')
      .values({ id: 's', email: 'owner@shop.example', created_at: now })
      .execute()
    const claim = {
      ...{ id: 'c', listing_id: ID, seller_id: 's', host: 'shop.example', token: 't' },
      ...{ method: 'well_known' as const, state: 'pending' as const, created_at: now },
      ...{ expires_at: now + DAY, verified_at: null, last_checked_at: null },
      ...{ failing_since: null, last_check: null },
    }
    await store.db.insertInto('claim').values(claim).execute()
    const proof = { verified: true, expected: '', observed: '', reason: null, next: '' }
    await recordProof(world.parts.ledger, claim, proof, now)
    await at.publish('a', CHEAP)
    await at.publish('b', { [ID]: { ...CHEAP[ID], trust: '50' } })
    await at.publish('c', DEAD)
    const news = world.mails.filter(({ subject }) => subject.startsWith(ID))
    expect(news).toHaveLength(1)
    expect(news[0]?.to).toBe('owner@shop.example')
    expect(news[0]?.text).toContain('Our probe: spoke -> dead')
    await store.db.updateTable('claim').set({ state: 'lapsed' }).execute()
    await at.publish('d', CHEAP)
    expect(world.mails.filter(({ subject }) => subject.startsWith(ID))).toHaveLength(1)
  })

  test('a webhook that fails is tried for a day with the same id, then paused with a mail', async () => {
    await at.publish('a', CHEAP)
    const { id } = await watch({ webhook: hook.url, email: 'ann@mail.example' })
    expect(hook.received).toEqual([])
    const { db } = world.parts.ledger.store
    await db.updateTable('watch').set({ state: 'live' }).execute()
    hook.answers((_req, res) => res.writeHead(500).end())
    await at.publish('b', DEAR)
    for (let hour = 0; hour < 25; hour += 1) {
      world.clock.move(3_600_000)
      await world.parts.ledger.deliveries.deliver()
    }
    expect(hook.news().length).toBeGreaterThan(10)
    expect(new Set(hook.news().map((news) => news.id)).size).toBe(1)
    expect(await row(id)).toMatchObject({ state: 'paused' })
    await world.parts.ledger.deliveries.deliver()
    expect(world.mails.at(-1)).toMatchObject({ subject: 'We stopped calling your webhook' })
    expect(await db.selectFrom('delivery').selectAll().execute()).toEqual([])
  })

  const ANSWERS: [name: string, answer: typeof answerWell, state: string, left: number][] = [
    ['410 Gone', (_req, res) => res.writeHead(410).end(), 'live', 1],
    ['a redirect', (_req, res) => res.writeHead(307, { location: '/other' }).end(), 'live', 1],
    [
      'an answer without end',
      (_req, res) => {
        const more = () => res.write('x'.repeat(1000), more)
        more()
      },
      'live',
      0,
    ],
  ]
  test.each(ANSWERS)(
    '%s is an answer like any other, and is not followed',
    async (_name, answer, state, left) => {
      await at.publish('a', CHEAP)
      const { id } = await watch({ webhook: hook.url })
      hook.answers(answer)
      await at.publish('b', DEAR)
      expect(hook.news()).toHaveLength(1)
      expect(await row(id)).toMatchObject({ state })
      const { db } = world.parts.ledger.store
      const waiting = await db.selectFrom('delivery').selectAll().execute()
      expect(waiting).toHaveLength(left)
    },
  )

  test('a server killed while it delivers loses nothing, and another one tells nobody twice', async () => {
    await at.publish('a', CHEAP)
    const { secret } = await watch({ webhook: hook.url })
    // Leased by a process that is no more.
    hook.answers((_req, res) => res.writeHead(503).end())
    await at.publish('b', DEAR)
    const { db } = world.parts.ledger.store
    await db
      .updateTable('delivery')
      .set({ lease_until: world.clock.now() + 60_000 })
      .execute()
    hook.answers(answerWell)
    world.clock.move(120_000)
    const other = createTeller(world, `${at.outDir}-other`)
    await other.publish('a', CHEAP)
    await other.publish('b', DEAR)
    expect(hook.news()).toHaveLength(2)
    expect(new Set(hook.news().map((news) => news.id)).size).toBe(1)
    expect(hook.news().every(({ isSignedBy }) => isSignedBy(secret))).toBe(true)
    await other.publish('c', DEAD)
    await at.publish('c', DEAD)
    await at.publish('d', CHEAP)
    await other.publish('d', CHEAP)
    expect(hook.news()).toHaveLength(4)
    await other.close()
  })

  test('strangers cannot use up what a mailbox may have, and its owner may have twenty', async () => {
    const ids: string[] = []
    for (let n = 0; n < 22; n += 1) ids.push((await watch({ email: 'ann+x@mail.example' })).id)
    for (const id of ids) {
      const own = await row(id)
      if (own !== undefined) await startWatch(world.parts.ledger.store.db, own)
    }
    const states = await Promise.all(ids.map(async (id) => (await row(id))?.state))
    expect(states.filter((state) => state === 'live')).toHaveLength(20)
    expect(states.filter((state) => state === 'paused')).toHaveLength(2)
    const { token } = (await row(ids[0] ?? '')) ?? {}
    const own = await (await fetch(`${world.url}/api/v1/watches/${token}`)).json()
    expect(own.watches).toHaveLength(22)
  })

  test.each([
    ['no target', { deliver: { email: 'a@b.example' } }],
    ['a strange target', { target: { host: 'x' }, deliver: { email: 'a@b.example' } }],
    ['no place', { target: { listing: ID }, deliver: {} }],
    ['two addresses', { target: { listing: ID }, deliver: { email: 'a@b.example,c@d.example' } }],
    [
      'an unknown event',
      { target: { listing: ID }, events: ['all'], deliver: { email: 'a@b.example' } },
    ],
    ['no event', { target: { listing: ID }, events: [], deliver: { email: 'a@b.example' } }],
    ['a script', { target: { listing: ID }, deliver: { webhook: 'javascript:alert(1)' } }],
    ['a password', { target: { listing: ID }, deliver: { webhook: 'https://u:p@h.example/' } }],
    ['a payee without chain', { target: { payee: '0x1' }, deliver: { email: 'a@b.example' } }],
  ])('%s is refused by name', async (_name, body) => {
    const answer = await send(body)
    expect(answer.status).toBe(400)
    expect((await answer.json()).errors.length).toBeGreaterThan(0)
  })

  test('this service is not a webhook of its own, nor is an unknown listing watched', async () => {
    const own = await send({ target: { listing: ID }, deliver: { webhook: `${world.url}/in` } })
    expect(own.status).toBe(400)
    const none = await send({ target: { listing: 'x402.none' }, deliver: { email: 'a@b.example' } })
    expect(none.status).toBe(404)
  })
})

test('a name that turns to an address inside is refused when it is dialled', async () => {
  const resolver: Resolver = {
    addresses: async () => [{ address: '10.0.0.1', family: 4 }],
    txt: async () => [],
  }
  const config = {
    STATE_DIR: mkdtempSync(join(tmpdir(), 'waypost-state-')),
    DATABASE_URL: undefined,
  }
  const { world, close } = await openWatchWorld(
    { dialect: 'sqlite', config },
    { listings: [ID], resolver, env: { UNSAFE_ALLOW_PRIVATE_TARGETS: 'false' } },
  )
  const answer = await fetch(`${world.url}/api/v1/watches`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      target: { listing: ID },
      deliver: { webhook: 'https://hook.example/in' },
    }),
  })
  expect(answer.status).toBe(202)
  await world.parts.ledger.deliveries.deliver()
  expect(world.logLines.join('')).toContain('address_refused')
  await close()
  await world.close()
})

test('this service is not called as a webhook under another name', async () => {
  const resolver: Resolver = {
    addresses: async () => [{ address: '127.0.0.1', family: 4 }],
    txt: async () => [],
  }
  const config = {
    STATE_DIR: mkdtempSync(join(tmpdir(), 'waypost-state-')),
    DATABASE_URL: undefined,
  }
  const { world, close } = await openWatchWorld(
    { dialect: 'sqlite', config },
    { listings: [ID], resolver },
  )
  const { port } = new URL(world.url)
  const before = countAllowed()
  for (const host of ['alias.example', 'localhost', '127.1', '2130706433', '[::ffff:127.0.0.1]'])
    await fetch(`${world.url}/api/v1/watches`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        target: { listing: ID },
        deliver: { webhook: `http://${host}:${port}/api/v1/sellers/login` },
      }),
    })
  await world.parts.ledger.deliveries.deliver()
  const tries = world.logLines.filter((line) => line.includes('webhook.not_sent'))
  expect(tries.length).toBeGreaterThan(0)
  for (const line of tries) expect(line).toContain('address_refused')
  expect(countAllowed()).toBe(before)
  await close()
  await world.close()
})

function countAllowed(): number {
  const rows = listVerdicts().filter(({ purpose }) => purpose === 'hook')
  return rows.find(({ verdict }) => verdict === 'allowed')?.count ?? 0
}

describeStores('a flood of watches', ({ newPlace }) => {
  let server: MailServer
  afterEach(() => server.close())

  test('all are told of one release, and a dead receiver holds up nobody', async () => {
    server = await startMailServer()
    const hook = await startReceiver()
    const dead = await startReceiver()
    dead.answers(() => {})
    const at = await openWatchWorld(await newPlace(), {
      listings: [ID],
      realMailer: true,
      env: { SMTP_URL: server.url, MAIL_FROM: 'hello@waypost.example' },
    })
    const { world } = at
    await at.publish('a', CHEAP)
    const rows = Array.from({ length: 600 }, (_, n) => {
      const kind = n % 20 === 0 ? 'dead' : n % 2 === 0 ? 'hook' : 'mail'
      const webhook = kind === 'mail' ? null : `${kind === 'dead' ? dead.url : hook.url}/${n}`
      return {
        ...{ id: `w${n}`, token: `t${n}`, kind: 'listing' as const, target: ID, events: 'price' },
        ...{ email: kind === 'mail' ? `u${n}@mail.example` : null, webhook },
        ...{ secret: webhook && 'whsec_AAAA', owner: `o${n}`, state: 'live' as const },
        ...{ reason: null, claim_id: null, created_at: 0 },
      }
    })
    await world.parts.ledger.store.db.insertInto('watch').values(rows).execute()
    void at.publish('b', DEAR)
    await vi.waitFor(
      () => {
        expect(server.received).toHaveLength(300)
        expect(hook.news()).toHaveLength(270)
      },
      { timeout: 60_000, interval: 100 },
    )
    // Each dead watch was asked for itself, and held up none of the others.
    expect(dead.received.length).toBe(30)
    await dead.close()
    await world.parts.ledger.deliveries.deliver()
    await at.close()
    await world.close()
    await hook.close()
  })
})
