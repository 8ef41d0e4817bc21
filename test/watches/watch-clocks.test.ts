import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { confirmWatch } from '../../functions/watches/watch-store.ts'
import { describeStores } from '../support/stores.ts'
import type { World } from '../support/world.ts'
import { openWatchWorld, startReceiver } from './watch-world.ts'

const ID = 'x402.shop'
const CHEAP = { [ID]: { price: '$0.01 per call' } }
const DEAR = { [ID]: { price: '$0.05 per call' } }

describeStores('each watch has its own clock', ({ newPlace }) => {
  let at: Awaited<ReturnType<typeof openWatchWorld>>
  let world: World
  let hook: Awaited<ReturnType<typeof startReceiver>>
  beforeEach(async () => {
    const limits = { env: { RATE_LIMITS: '{}', TRUST_PROXY: '1' } }
    at = await openWatchWorld(await newPlace(), { listings: [ID], ...limits })
    world = at.world
    hook = await startReceiver()
  })
  afterEach(async () => {
    await hook.close()
    await at.close()
    await world.close()
  })

  /** Live watches of one host: their webhooks end in `/dead/<n>` or `/live/<n>`. */
  const addWatches = async (kind: 'dead' | 'live', count: number) => {
    const rows = Array.from({ length: count }, (_, n) => ({
      ...{ id: `${kind}${n}`, token: `${kind}${n}`, kind: 'listing' as const, target: ID },
      ...{ events: 'price', email: null, webhook: `${hook.url}/${kind}/${n}` },
      ...{ secret: 'whsec_AAAA', owner: `${kind}${n}`, state: 'live' as const, reason: null },
      ...{ claim_id: null, created_at: 0 },
    }))
    await world.parts.ledger.store.db.insertInto('watch').values(rows).execute()
  }
  const answerDead = (answer: (res: ServerResponse) => void) =>
    hook.answers((req, res) => (req.url?.startsWith('/dead/') ? answer(res) : res.end()))
  const told = (kind: string) => hook.urls.filter((url) => url.startsWith(`/${kind}/`))
  const stateOf = async (id: string) => {
    const { db } = world.parts.ledger.store
    return db
      .selectFrom('watch')
      .select(['state', 'reason'])
      .where('id', '=', id)
      .executeTakeFirst()
  }
  const send = (webhook: string, client: string) =>
    fetch(`${world.url}/api/v1/watches`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': client },
      body: JSON.stringify({ target: { listing: ID }, deliver: { webhook } }),
    })

  test('eight watches that fail cost a ninth on their host nothing', async () => {
    await at.publish('a', CHEAP)
    await addWatches('dead', 8)
    await addWatches('live', 1)
    answerDead((res) => res.writeHead(500).end())
    await at.publish('b', DEAR)
    expect(told('live')).toHaveLength(1)
    expect(new Set(told('dead')).size).toBe(8)
  })

  test('forty webhooks that never answer take no place for longer than a moment', async () => {
    await at.publish('a', CHEAP)
    await addWatches('dead', 40)
    await addWatches('live', 4)
    answerDead(() => {})
    const published = at.publish('b', DEAR)
    await vi.waitFor(() => expect(told('live')).toHaveLength(4), { timeout: 8_000, interval: 20 })
    await hook.close()
    await published
  }, 30_000)

  test('news of a watch that fails wait for its clock, and come in their order', async () => {
    await at.publish('a', CHEAP)
    await addWatches('dead', 1)
    answerDead((res) => res.writeHead(500).end())
    await at.publish('b', DEAR)
    await at.publish('c', CHEAP)
    expect(told('dead')).toHaveLength(1)
    answerDead((res) => res.end())
    world.clock.move(5_000)
    await world.parts.ledger.deliveries.deliver()
    const prices = hook.news().map(({ body }) => JSON.stringify(body.data.changes))
    expect(prices).toHaveLength(3)
    expect(prices[0]).toBe(prices[1])
    expect(prices[2]).not.toBe(prices[1])
  })

  test.each([404, 410])('%i again and again pauses that watch alone', async (status) => {
    await at.publish('a', CHEAP)
    await addWatches('dead', 1)
    await addWatches('live', 1)
    answerDead((res) => res.writeHead(status).end())
    await at.publish('b', DEAR)
    for (const seconds of [5, 15, 60, 300]) {
      expect(await stateOf('dead0')).toMatchObject({ state: 'live' })
      world.clock.move(seconds * 1000)
      await world.parts.ledger.deliveries.deliver()
    }
    const reason = `the webhook answered ${status} at the 5th try`
    expect(await stateOf('dead0')).toEqual({ state: 'paused', reason })
    expect(await stateOf('live0')).toEqual({ state: 'live', reason: null })
  })

  test('what others ask of a host uses up nobody’s webhooks there', async () => {
    for (let n = 0; n < 30; n += 1)
      expect((await send(`${hook.url}/${n}`, `203.0.113.${n}`)).status).toBe(202)
    await world.parts.ledger.deliveries.deliver()
    expect(hook.received).toHaveLength(30)
  })

  test('a client asks few webhooks an hour', async () => {
    const statuses = []
    for (let n = 0; n < 21; n += 1)
      statuses.push((await send(`${hook.url}/${n}`, '203.0.113.1')).status)
    expect(statuses.filter((status) => status === 202)).toHaveLength(20)
    expect(statuses.at(-1)).toBe(429)
  })
})

describeStores('mails that nobody confirmed', ({ newPlace }) => {
  let at: Awaited<ReturnType<typeof openWatchWorld>>
  let world: World
  beforeEach(async () => {
    const limits = { env: { RATE_LIMITS: '{}', TRUST_PROXY: '1' } }
    at = await openWatchWorld(await newPlace(), { listings: [ID], ...limits })
    world = at.world
  })
  afterEach(async () => {
    await at.close()
    await world.close()
  })

  let asked = 0
  const ask = async (email: string) => {
    asked += 1
    const answer = await fetch(`${world.url}/api/v1/watches`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Forwarded-For': `203.0.113.${asked % 250}`,
      },
      body: JSON.stringify({ target: { listing: ID }, deliver: { email } }),
    })
    expect(answer.status).toBe(202)
    await world.parts.ledger.deliveries.deliver()
    return answer.json()
  }
  const rowOf = (id: string) =>
    world.parts.ledger.store.db
      .selectFrom('watch')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()

  test('come once a day to a mailbox, however its address is spelt', async () => {
    const spellings = ['ann.lee@gmail.com', 'annlee@gmail.com', 'a.n.n.lee+x@gmail.com']
    for (const email of [...spellings, 'Ann.Lee@googlemail.com', ...spellings]) await ask(email)
    expect(world.mails).toHaveLength(1)
    await ask('ann.lee@mail.example')
    await ask('annlee@mail.example')
    expect(world.mails).toHaveLength(3)
    world.clock.move(86_400_000)
    await ask('annlee@gmail.com')
    expect(world.mails).toHaveLength(4)
  })

  test('cost the owner nothing: all that waits is at the link of the one mail', async () => {
    const [stranger, owner] = [await ask('a.nn@gmail.com'), await ask('ann@gmail.com')]
    const { token } = await rowOf(stranger.id)
    const shown = await (await fetch(`${world.url}/api/v1/watches/${token}`)).json()
    expect(shown.watches.map(({ id }: { id: string }) => id).sort()).toEqual(
      [stranger.id, owner.id].sort(),
    )
  })

  test('count no more once their reader has confirmed one', async () => {
    const { id } = await ask('ann@mail.example')
    const { deliveries, store } = world.parts.ledger
    const watch = await rowOf(id)
    await store.db.transaction().execute((trx) => confirmWatch(trx, deliveries, watch))
    await ask('ann@mail.example')
    expect(world.mails).toHaveLength(2)
    await ask('ann@mail.example')
    expect(world.mails).toHaveLength(2)
  })

  test('ten at once are one', async () => {
    await Promise.all(Array.from({ length: 10 }, () => ask('ann@mail.example')))
    expect(world.mails).toHaveLength(1)
  })
})
