import { beforeEach, expect, test } from 'vitest'
import { createHints, hasHintSince } from '../../functions/trust/measure.ts'
import { readSettledTransaction } from '../../src/domain/relay/delivered.ts'
import { aListing } from '../call/relay-world.ts'
import { HASH, NETWORK, NOON, wallet } from '../settlements/samples.ts'
import { forAllTests } from '../support/for-tests.ts'
import { IS_LONG } from '../support/long.ts'
import { silentLog } from '../support/stores.ts'
import { createChain, createNode, payment } from './chain-double.ts'
import { createMeter, openMeterStore, prove } from './meter-world.ts'

/** What relayed calls say of payments: where to look, and never what counts. */
const ledger = forAllTests(openMeterStore)
beforeEach(async () => {
  await ledger.empty()
  await ledger.store.db.deleteFrom('payment_hint').execute()
})

/** Many times the places there are, of as many clients: every place of the lane was taken more than once. */
const HINTS = IS_LONG ? 4_000 : 1_000
const SHOP = wallet(1)
const listing = (id: string) =>
  aListing('https://0.example/', { id, payout: [`${NETWORK}:${SHOP}`] })

async function openHints() {
  const { store } = ledger
  let now = NOON
  const clock = { now: () => (now += 1) }
  const hints = createHints({ store, clock, log: silentLog })
  const note = async (id: string, client: string, transaction: string) => {
    hints.note(listing(id), client, transaction)
    await hints.written()
  }
  const noted = async () =>
    (await store.db.selectFrom('payment_hint').select('transaction_id').execute()).map(
      ({ transaction_id }) => transaction_id,
    )
  return { store, hints, note, noted }
}

const invented = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

test('a client reaches sixteen places of a listing, and its own oldest hint goes first', async () => {
  const { note, noted } = await openHints()
  await note('x402.0', 'another', HASH)
  for (let n = 0; n < 40; n += 1) await note('x402.0', 'mallory', invented(n))
  const left = await noted()
  expect(left).toHaveLength(17)
  expect(left).toContain(HASH)
  expect(left).toContain(invented(39))
  expect(left).not.toContain(invented(23))
})

test(`${HINTS} invented hints delay nothing, and the last costs what the first one did`, async () => {
  const { store, note, noted } = await openHints()
  const chain = createChain({ start: NOON - 3_600_000, blockMs: 60_000 })
  chain.mine(payment(wallet(20), SHOP, 1_000))
  await prove(store, [SHOP])
  for (let n = 0; n < HINTS; n += 1) await note('x402.0', `client-${n}`, invented(n))
  // A hint looks at the sixteen places of its lane, however many came before.
  expect((await noted()).length).toBe(256)
  const node = createNode(chain)
  const meter = createMeter(store, node.rpc, chain.now)
  expect(await meter.run()).toMatchObject({ payments: 1, stopped: null })
  // The meter reads blocks: not one question is about a hint.
  expect(new Set(node.requested)).not.toContain('eth_getTransactionReceipt')
  expect(await hasHintSince(store, NOON)).toBe(true)
}, 120_000)

test('of a payee that several listings of one owner share, the one that was called is noted; no other owner has a say', async () => {
  const { store, note } = await openHints()
  const chain = createChain({ start: NOON - 3_600_000, blockMs: 60_000 })
  chain.mine(payment(wallet(20), SHOP, 1_000))
  chain.mine(payment(wallet(21), SHOP, 1_000))
  const [called = '', stolen = ''] = chain.blocks.flatMap(({ logs }) =>
    logs.filter(({ data }) => data !== '0x').map(({ transactionHash }) => String(transactionHash)),
  )
  await note('x402.b', 'buyer', called)
  // A thief's listing names both, first and last.
  for (const transaction of [called, stolen]) await note('x402.a-thief', 'thief', transaction)
  const own = ['x402.b', 'x402.c'].map((listing_id) => ({
    payout: `${NETWORK}:${SHOP}`,
    listing_id,
    host: 'shop.example',
  }))
  const meter = createMeter(store, createNode(chain).rpc, chain.now, { published: own })
  await meter.run()
  const rows = await store.db
    .selectFrom('settlement')
    .select(['payer', 'listing_id'])
    .orderBy('payer')
    .execute()
  expect(rows).toEqual([
    { payer: wallet(20), listing_id: 'x402.b' },
    { payer: wallet(21), listing_id: '' },
  ])
})

test.each([
  ['a voucher', { success: true, transaction: '' }, null],
  ['no success', { success: false, transaction: HASH }, null],
  ['another thing', { success: true, transaction: 'not a hash' }, null],
  ['a settlement', { success: true, transaction: HASH.toUpperCase().replace('X', 'x') }, HASH],
  ['a receipt of MPP', { status: 'success', reference: HASH }, HASH],
])('%s names no transaction unless it is one', (_name, stated, transaction) => {
  const value = Buffer.from(JSON.stringify(stated)).toString('base64')
  expect(readSettledTransaction(['PAYMENT-RESPONSE', value])).toBe(transaction)
  expect(readSettledTransaction(['X-Other', value])).toBeNull()
})
