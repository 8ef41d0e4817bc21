import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readVerifiedSettlements } from '../../functions/settlements/read-verified-settlements.ts'
import { createSeenPayees } from '../../functions/settlements/seen-payees.ts'
import { toRotatingNotice } from '../../src/compile/derive/payout-standings.ts'
import { openMeterStore } from '../meter/meter-world.ts'
import {
  encode,
  HASH,
  NETWORK,
  NOON,
  PAYER,
  PAYMENT_V2,
  rawReceipt,
  SETTLED,
  TOKEN,
  transferLog,
  usedLog,
  wallet,
} from './samples.ts'
import { aNode, LISTING, open } from './settlements-world.ts'

const SHOP = { ...LISTING, payout: [] }
const MINUTE_MS = 60_000

/** A 402 as x402 version 2 writes it. */
const naming = (payTo: string) => {
  const offer = { scheme: 'exact', network: NETWORK, asset: TOKEN, amount: '1000', payTo }
  return ['PAYMENT-REQUIRED', encode({ x402Version: 2, accepts: [offer] })]
}

let ledger: Awaited<ReturnType<typeof openMeterStore>>
beforeAll(async () => {
  ledger = await openMeterStore()
})
beforeEach(async () => {
  await ledger.store.db.deleteFrom('settlement_check').execute()
  await ledger.empty()
})
afterAll(() => ledger.close())

/** A shop that names another address each time; each of `payees` is paid, the n-th by its own transaction. */
async function sell(payees: readonly string[], { isNamed = true, isLate = false } = {}) {
  const node = aNode()
  const world = open(ledger.store, node)
  for (const [n, payee] of payees.entries()) {
    const nonce = `0x${(n + 1).toString(16).padStart(64, '0')}`
    const hash = HASH.replace(/.$/, String(n))
    const logs = [usedLog(0, nonce), transferLog(1, { to: payee })]
    node.answers.eth_getTransactionReceipt = {
      ...rawReceipt(logs.map((log) => ({ ...log, transactionHash: hash }))),
      transactionHash: hash,
    }
    const authorization = { from: PAYER, to: payee, value: '1000', nonce }
    const paid = { ...PAYMENT_V2, payload: { signature: '0x00', authorization } }
    const settled = { ...SETTLED, transaction: hash }
    const say = () => isNamed && world.settlements.note(SHOP, [], naming(payee), NOON)
    if (!isLate) say()
    world.settlements.note(
      SHOP,
      ['PAYMENT-SIGNATURE', encode(paid)],
      ['PAYMENT-RESPONSE', encode(settled)],
      isLate ? NOON - MINUTE_MS : NOON,
    )
    if (isLate) say()
    await world.settlements.verify()
  }
  await world.settlements.close()
  return world
}

const factsWith = (counts: Record<string, string[]>) => {
  const standings = new Map(
    Object.entries(counts).map(([id, own]) => [
      id,
      { counts: own, owned: own, contested: [], sharers: 1 },
    ]),
  )
  return readVerifiedSettlements(ledger.store, () => standings, NOON)
}

test('what was paid to an address that our relay saw the 402 name counts', async () => {
  const world = await sell([wallet(1)])
  expect(await world.states()).toEqual(['counted'])
  const { sales, rotating } = await factsWith({ [SHOP.id]: [] })
  expect(sales.get(SHOP.id)?.raw).toMatchObject({ settlements: 1, payers: 1 })
  expect(rotating.size).toBe(0)
})

test('not without the 402, and not when it came after the call', async () => {
  expect(await (await sell([wallet(1)], { isNamed: false })).states()).toEqual([])
  expect(await (await sell([wallet(1)], { isLate: true })).states()).toEqual([])
})

test('a call whose 402 names another’s payout counts for the listing that was called, and no other', async () => {
  await sell([wallet(1)])
  const other = [`${NETWORK}:${wallet(1)}`]
  const { sales } = await factsWith({ [SHOP.id]: [], 'x402.other': other })
  expect([...sales.keys()]).toEqual([SHOP.id])
})

test('three of them in thirty days are payouts that rotate by design', async () => {
  await sell([wallet(1), wallet(2), wallet(3)])
  const { rotating } = await factsWith({ [SHOP.id]: [] })
  expect(rotating.get(SHOP.id)).toEqual({ payees: 3, at: NOON })
  expect(toRotatingNotice(rotating.get(SHOP.id))).toEqual([
    expect.objectContaining({ id: 'payout_rotating', at: new Date(NOON).toISOString() }),
  ])
  expect(toRotatingNotice(undefined)).toEqual([])
})

test('terms are forgotten after an hour, and the newest hundred of a listing are kept', () => {
  const seen = createSeenPayees()
  const payout = (n: number) => `${NETWORK}:${wallet(n)}`
  for (let n = 0; n < 150; n += 1) seen.note('x402.a', naming(wallet(n)), NOON + n)
  const named = seen.namedBefore('x402.a', NETWORK, NOON + 149)
  expect(named).toHaveLength(100)
  expect(named).toContain(payout(149))
  expect(named).not.toContain(payout(49))
  expect(seen.namedBefore('x402.a', 'eip155:1', NOON + 149)).toEqual([])
  expect(seen.namedBefore('x402.a', NETWORK, NOON + 61 * MINUTE_MS)).toEqual([])
  expect(seen.namedBefore('x402.a', NETWORK, NOON - 1)).toEqual([])
  seen.note('x402.b', ['PAYMENT-REQUIRED', 'x'.repeat(20_000)], NOON)
  expect(seen.namedBefore('x402.b', NETWORK, NOON)).toEqual([])
})
