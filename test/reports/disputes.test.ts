import { hash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applyRetention } from '../../functions/clicks/retention.ts'
import { readJudgedCalls, readReceiptsOf } from '../../functions/receipts/read-receipts.ts'
import { insertReceipts, type NewReceipt, toReceiptId } from '../../functions/receipts/receipts.ts'
import { createSessions } from '../../functions/sellers/sign-in.ts'
import { readLedgerFacts } from '../../functions/service/ledger-facts.ts'
import type { Store } from '../../functions/store/store.ts'
import { createReportQueue } from '../../seeds/review/reports.ts'
import { createPaymentMarks } from '../../src/domain/relay/delivered.ts'
import { toDisputeNotice } from '../../src/domain/sellers/report.ts'
import type { LedgerPayment } from '../../src/domain/trust/ledger-facts.ts'
import { settleOne } from '../seeds/settle-one.ts'
import { liveListing } from '../support/live-listing.ts'
import { describeStores } from '../support/stores.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

const REASON = 'It answers with a page of advertisements instead of what was paid for.'
const ID = 'x402.shop'
const ABOUT = { kind: 'dispute', about: ID }
const DAY = 86_400_000

function aPayment(listings: string[], at: number): LedgerPayment {
  return {
    ...{ network: 'eip155:8453', transaction: '0x1', log: 1, at, asset: 'usd', amount: '1000' },
    ...{ usd_micro: 1000, scheme: null, payer: `0x${'a1'.repeat(20)}` },
    ...{ payee: `0x${'b2'.repeat(20)}`, listings, verdict: 'counted' },
  }
}

function aReceipt(listing_id: string, now: number): NewReceipt {
  return {
    receipt: {
      id: toReceiptId(now, randomBytes(16)),
      at: new Date(now).toISOString(),
      ...{ listing_id, operation: 'digest', request: null, answer: null, status: 200 },
      ...{ verdict: 'empty', reason: 'The answer has no content.', transaction: '0x1', ms: 1 },
    },
    call: 'GET https://shop.example/buy',
    payment: hash('sha256', createPaymentMarks()(aPayment([listing_id], now))),
    authorization: null,
    isNamed: true,
  }
}

const aSeller = (id: string, now: number) => ({
  ...{ id, email: `${id}@shop.example`, created_at: now },
})

function aClaim(seller_id: string, now: number) {
  return {
    ...{ id: `claim-of-${seller_id}`, listing_id: ID, seller_id, host: 'shop.example' },
    ...{ method: 'well_known' as const, token: seller_id, state: 'verified' as const },
    ...{ created_at: now, expires_at: now + DAY, verified_at: now, last_checked_at: now },
    ...{ failing_since: null, last_check: null },
  }
}

type Hostile = [name: string, body: unknown, status: number, code: string]
const HOSTILE: Hostile[] = [
  ['no body', '', 400, 'invalid-body'],
  ['a list', [], 400, 'invalid-body'],
  ['no text', { ...ABOUT }, 400, 'invalid-parameter'],
  ['31 characters', { ...ABOUT, text: 'x'.repeat(31) }, 400, 'invalid-parameter'],
  ['1001 characters', { ...ABOUT, text: 'x'.repeat(1001) }, 400, 'invalid-parameter'],
  ['spaces', { ...ABOUT, text: ' '.repeat(64) }, 400, 'invalid-parameter'],
  ['a number', { ...ABOUT, text: 5 }, 400, 'invalid-parameter'],
  ['an escape', { ...ABOUT, text: `${REASON}\u001b[2J` }, 400, 'invalid-parameter'],
  ['turned text', { ...ABOUT, text: `${REASON}\u202e` }, 400, 'invalid-parameter'],
  ['half a character', { ...ABOUT, text: `${REASON}\ud800` }, 400, 'invalid-parameter'],
  ['an unknown field', { ...ABOUT, text: REASON, mail: 'x' }, 400, 'invalid-parameter'],
  [
    'a strange listing',
    { kind: 'dispute', about: 'x402.none', text: REASON },
    404,
    'listing-not-found',
  ],
  ['16 KiB', { ...ABOUT, text: 'x'.repeat(17_000) }, 413, 'payload-too-large'],
  ...[
    'http://shop.example',
    'javascript:alert(1)',
    'https://user:secret@shop.example',
    'https://shop.example/\u0000',
    `https://shop.example/${'x'.repeat(500)}`,
    5,
  ].map(
    (url): Hostile => [
      `link ${String(url).slice(0, 30)}`,
      { ...ABOUT, text: REASON, links: [url] },
      400,
      'invalid-parameter',
    ],
  ),
  [
    'six URLs',
    { ...ABOUT, text: REASON, links: Array(6).fill('https://a.example') },
    400,
    'invalid-parameter',
  ],
]

const never = () => {
  throw new Error('expected nobody to be asked')
}

describeStores('disputes', ({ newPlace }) => {
  let world: World
  let store: Store
  const now = () => new Date(world.clock.now()).toISOString()
  const send = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${world.url}/api/v1/reports`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const dispute = async (text: string, status = 202) => {
    const response = await send({ ...ABOUT, text })
    expect(response.status).toBe(status)
    return (await response.json()).id
  }
  const acceptedNow = async () => (await readLedgerFacts(store, world.clock.now())).disputes
  const queue = () => createReportQueue({ contentDir: '', allowPrivate: false }, store, now, never)
  const waiting = () => queue().list()

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

    for (const item of await waiting())
      await settleOne(
        queue(),
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
        note: 'A dispute was reviewed by a person and accepted. Seen by us too.',
        at: expect.stringMatching(/^2\d{3}-/),
      },
    ])
    const later = { at: world.clock.now() + DAY, note: '' }
    expect(toDisputeNotice([...disputes, later])).toMatchObject([
      {
        note: '2 disputes were reviewed by a person and accepted.',
        at: new Date(later.at).toISOString(),
      },
    ])
    // The same words again ask nobody twice.
    expect(await dispute(REASON, 200)).toBe(accepted)
    expect(await waiting()).toEqual([])
  })

  test('an accepted one shows for ninety days, then all of it is gone', async () => {
    world.clock.move(89 * DAY)
    expect((await acceptedNow()).size).toBe(1)
    world.clock.move(2 * DAY)
    expect((await acceptedNow()).size).toBe(0)
    await applyRetention(store, world.clock.now())
    expect(await store.db.selectFrom('report').selectAll().execute()).toEqual([])
  })

  test('of a verdict: accepted, its call no longer counts, and nothing is said against the listing', async () => {
    const receipt = aReceipt(ID, world.clock.now())
    const other = aReceipt('x402.other', world.clock.now())
    await insertReceipts(store, [receipt, other])
    const body = { ...ABOUT, text: REASON }
    const codeOf = async (about: string) => (await (await send({ ...body, about })).json()).code
    expect(await codeOf('A'.repeat(22))).toBe('receipt-not-found')
    // Of a listing that is not here.
    expect(await codeOf(other.receipt.id)).toBe('listing-not-found')
    expect(await codeOf('?')).toBe('listing-not-found')
    const paid = aPayment([ID, 'x402.other'], world.clock.now())
    const counted = async () =>
      (await readJudgedCalls(store, [paid], 0)).map(({ listing_id }) => listing_id)
    expect((await send({ ...body, about: receipt.receipt.id })).status).toBe(202)
    const seen = async () => (await readReceiptsOf(store, ID)).map(({ dispute }) => dispute)
    expect([await counted(), await seen()]).toEqual([['x402.other', ID], ['waiting']])
    const item = (await waiting()).find(({ why }) => why === 'disputed_verdict')
    if (item === undefined) throw new Error('expected it to wait')
    expect((await queue().show?.(item))?.lines.join()).toContain(receipt.receipt.id)
    await settleOne(queue(), item, { decision: 'accepted', reason: 'The declaration was wrong.' })
    expect([await counted(), await seen()]).toEqual([['x402.other'], ['accepted']])
    expect(await acceptedNow()).toEqual(new Map())
  })

  test('twenty wait for a listing at most, and the next one is told so', async () => {
    for (let n = 0; n < 20; n++) await dispute(`${REASON} It happened on day ${n}.`)
    const response = await send({ ...ABOUT, text: `${REASON} Once more.` })
    expect([response.status, (await response.json()).code]).toEqual([503, 'reports-full'])
    expect(response.headers.get('retry-after')).toBe('86400')
  })

  test('a crowd of strangers keeps no seller from disputing a verdict on its listing', async () => {
    const now = world.clock.now()
    const receipt = aReceipt(ID, now)
    await insertReceipts(store, [receipt])
    const cookies = await Promise.all(
      ['owner', 'rival'].map(async (id) => {
        await store.db.insertInto('seller').values(aSeller(id, now)).execute()
        const cookie = await createSessions(world.parts).start(id)
        return cookie.split(';')[0] ?? ''
      }),
    )
    await store.db.insertInto('claim').values(aClaim('owner', now)).execute()
    const sendAs = async (cookie: string, n: number) => {
      const text = `${REASON} The seller says so, number ${n}.`
      const { status } = await send(
        { kind: 'dispute', about: receipt.receipt.id, text },
        { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' },
      )
      return status
    }
    const [owner = '', rival = ''] = cookies
    expect([await sendAs(rival, 1), await sendAs('', 2)]).toEqual([503, 503])
    expect([await sendAs(owner, 3), await sendAs(owner, 4)]).toEqual([202, 202])
    // Nor is that without an end.
    for (let n = 5; n < 23; n++) expect(await sendAs(owner, n)).toBe(202)
    expect(await sendAs(owner, 23)).toBe(503)
  })

  test.each(HOSTILE)('%s is refused by name', async (_, body, status, code) => {
    const response = await send(body)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ code, status })
  })

  test('a form of another site, and other types, are refused', async () => {
    const body = { ...ABOUT, text: REASON }
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
      fetch(`${url}/api/v1/reports`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...ABOUT, text: REASON }),
      })
    try {
      expect((await sendTo(limited.url)).status).toBe(202)
      expect((await sendTo(limited.url)).status).toBe(429)
    } finally {
      await limited.close()
    }
  })
})
