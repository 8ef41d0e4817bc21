import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readLedgerFacts } from '../../functions/analytics/ledger-facts.ts'
import { applyRetention } from '../../functions/analytics/retention.ts'
import { readReceiptsOf, readWitnessedCalls } from '../../functions/receipts/log/read-deliveries.ts'
import { appendReceipts, type NewReceipt } from '../../functions/receipts/log/receipt-log.ts'
import type { Store } from '../../functions/store/schema/store.ts'
import { createDisputeQueue } from '../../seeds/review/open-sources.ts'
import { toDisputeNotice } from '../../src/domain/disputes/dispute.ts'
import { liveListing } from '../support/live-listing.ts'
import { describeStores } from '../support/stores.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

const REASON = 'It answers with a page of advertisements instead of what was paid for.'
const ID = 'x402.shop'
const DAY = 86_400_000

function aReceipt(listing_id: string, now: number): NewReceipt {
  return {
    receipt: {
      id: randomBytes(16).toString('base64url'),
      at: new Date(now).toISOString(),
      ...{ listing_id, operation: 'digest', request: null, answer: null, status: 200 },
      ...{ verdict: 'empty', reason: 'The answer has no content.', transaction: null, ms: 1 },
    },
    call: 'GET https://shop.example/buy',
    payment: 'a hash',
    authorization: null,
  }
}

type Hostile = [name: string, body: unknown, status: number, code: string]
const HOSTILE: Hostile[] = [
  ['no body', '', 400, 'invalid-body'],
  ['a list', [], 400, 'invalid-body'],
  ['no reason', { listing_id: ID }, 400, 'invalid-parameter'],
  ['31 characters', { listing_id: ID, reason: 'x'.repeat(31) }, 400, 'invalid-parameter'],
  ['1001 characters', { listing_id: ID, reason: 'x'.repeat(1001) }, 400, 'invalid-parameter'],
  ['spaces', { listing_id: ID, reason: ' '.repeat(64) }, 400, 'invalid-parameter'],
  ['a number', { listing_id: ID, reason: 5 }, 400, 'invalid-parameter'],
  ['an escape', { listing_id: ID, reason: `${REASON}\u001b[2J` }, 400, 'invalid-parameter'],
  ['turned text', { listing_id: ID, reason: `${REASON}\u202e` }, 400, 'invalid-parameter'],
  ['half a character', { listing_id: ID, reason: `${REASON}\ud800` }, 400, 'invalid-parameter'],
  ['an unknown field', { listing_id: ID, reason: REASON, mail: 'x' }, 400, 'invalid-parameter'],
  ['a strange listing', { listing_id: 'x402.none', reason: REASON }, 404, 'listing-not-found'],
  ['16 KiB', { listing_id: ID, reason: 'x'.repeat(17_000) }, 413, 'payload-too-large'],
  ...[
    'http://shop.example',
    'javascript:alert(1)',
    'https://user:secret@shop.example',
    'https://shop.example/\u0000',
    `https://shop.example/${'x'.repeat(500)}`,
    5,
  ].map(
    (url): Hostile => [
      `evidence ${String(url).slice(0, 30)}`,
      { listing_id: ID, reason: REASON, evidence_urls: [url] },
      400,
      'invalid-parameter',
    ],
  ),
  [
    'six URLs',
    { listing_id: ID, reason: REASON, evidence_urls: Array(6).fill('https://a.example') },
    400,
    'invalid-parameter',
  ],
]

describeStores('disputes', ({ newPlace }) => {
  let world: World
  let store: Store
  const now = () => new Date(world.clock.now()).toISOString()
  const send = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${world.url}/api/v1/trust/disputes`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const dispute = async (reason: string, listing_id = ID) => {
    const response = await send({ listing_id, reason })
    expect(response.status).toBe(202)
    const { id } = (await response.json()) as { id: string } // the schema's own test parses it
    return id
  }
  const acceptedNow = async () => (await readLedgerFacts(store, world.clock.now())).disputes
  const waiting = () => createDisputeQueue(store, now).list()

  beforeAll(async () => {
    const { config } = await newPlace()
    const env = { ...config, RATE_LIMITS: ALL_LIMITS_OFF }
    world = await openWorld({ env, listings: [liveListing(ID, 'https://shop.example/buy')] })
    store = world.parts.ledger.store
  })
  afterAll(() => world.close())

  test('wait for a person; only an accepted one is a notice, and it says what the person said', async () => {
    const refused = await dispute(`${REASON} Really.`)
    const accepted = await dispute(REASON)
    expect(await dispute(REASON)).toBe(accepted)
    expect((await waiting()).map(({ id }) => id).sort()).toEqual([accepted, refused].sort())
    expect(await acceptedNow()).toEqual(new Map())

    const queue = createDisputeQueue(store, now)
    for (const item of await queue.list())
      await queue.settle(
        item,
        item.id === accepted
          ? { decision: 'accepted', reason: 'Seen by us too.' }
          : { decision: 'refused', reason: 'No sign of it.' },
      )
    expect(await waiting()).toEqual([])
    const disputes = (await acceptedNow()).get(ID) ?? []
    expect(toDisputeNotice(disputes)).toEqual([
      {
        id: 'disputed',
        note: 'A dispute was looked at by a person and accepted. Seen by us too.',
        at: expect.stringMatching(/^2\d{3}-/),
      },
    ])
    // The same words again ask nobody twice.
    expect(await dispute(REASON)).toBe(accepted)
    expect(await waiting()).toEqual([])
  })

  test('an accepted one shows for ninety days, then all of it is gone', async () => {
    world.clock.move(89 * DAY)
    expect((await acceptedNow()).size).toBe(1)
    world.clock.move(2 * DAY)
    expect((await acceptedNow()).size).toBe(0)
    await applyRetention(store, world.clock.now())
    expect(await store.db.selectFrom('dispute').selectAll().execute()).toEqual([])
  })

  test('of a verdict: accepted, its call no longer counts, and nothing is said against the listing', async () => {
    const receipt = aReceipt(ID, world.clock.now())
    const other = aReceipt('x402.other', world.clock.now())
    await appendReceipts(store, [receipt, other])
    const body = { listing_id: ID, reason: REASON }
    const unknown = await send({ ...body, receipt: other.receipt.id })
    expect([unknown.status, await unknown.json()]).toMatchObject([
      404,
      { code: 'receipt-not-found' },
    ])
    expect((await send({ ...body, receipt: '?' })).status).toBe(400)
    const counted = async () =>
      (await readWitnessedCalls(store, 0)).map(({ listing_id }) => listing_id)
    expect((await send({ ...body, receipt: receipt.receipt.id })).status).toBe(202)
    const seen = async () => (await readReceiptsOf(store, ID)).map(({ dispute }) => dispute)
    expect([await counted(), await seen()]).toEqual([[ID, 'x402.other'], ['waiting']])
    const queue = createDisputeQueue(store, now)
    const item = (await queue.list()).find(({ why }) => why === 'disputed_verdict')
    if (item === undefined) throw new Error('expected it to wait')
    expect((await queue.show?.(item))?.join()).toContain(receipt.receipt.id)
    await queue.settle(item, { decision: 'accepted', reason: 'The declaration was wrong.' })
    expect([await counted(), await seen()]).toEqual([['x402.other'], ['accepted']])
    expect(await acceptedNow()).toEqual(new Map())
  })

  test('twenty wait for a listing at most, and the next one is told so', async () => {
    for (let n = 0; n < 20; n++) await dispute(`${REASON} It happened on day ${n}.`)
    const response = await send({ listing_id: ID, reason: `${REASON} Once more.` })
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('86400')
  })

  test.each(HOSTILE)('%s is refused by name', async (_, body, status, code) => {
    const response = await send(body)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ code, status })
  })

  test('a form of another site, and other types, are refused', async () => {
    const body = { listing_id: ID, reason: REASON }
    expect((await send(body, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
    expect((await send(body, { 'Content-Type': 'text/plain' })).status).toBe(415)
  })

  test('clients are counted against the limit `dispute`', async () => {
    const { config } = await newPlace()
    const limited = await openWorld({
      env: { ...config, RATE_LIMITS: JSON.stringify({ dispute: '1/60' }) },
      listings: [liveListing(ID, 'https://shop.example/buy')],
    })
    const sendTo = (url: string) =>
      fetch(`${url}/api/v1/trust/disputes`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ listing_id: ID, reason: REASON }),
      })
    try {
      expect((await sendTo(limited.url)).status).toBe(202)
      expect((await sendTo(limited.url)).status).toBe(429)
    } finally {
      await limited.close()
    }
  })
})
