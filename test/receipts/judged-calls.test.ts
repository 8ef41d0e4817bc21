import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { readJudgedCalls } from '../../functions/receipts/read-receipts.ts'
import { insertReceipts } from '../../functions/receipts/receipts.ts'
import { authorizationMarkOf, createPaymentMarks } from '../../src/domain/relay/delivered.ts'
import type { LedgerPayment } from '../../src/domain/trust/ledger-facts.ts'
import { describeStores } from '../support/stores.ts'
import { aTransaction } from './observed-relay.ts'
import { aReceipt } from './receipt-samples.ts'

const [payer, payee] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
const network = 'eip155:8453'

function aPayment(n: number, at: number, listing = 'x402.seller'): LedgerPayment {
  return {
    ...{ network, transaction: aTransaction(n), log: 1, at, asset: 'usd', amount: '1000' },
    ...{ usd_micro: 1000, scheme: null, payer, payee, listings: [listing] },
    verdict: 'counted',
  }
}
const markOf = createPaymentMarks()

/** A call of a payment's buyer, whose answer names a transaction. */
function aCallOf(payment: LedgerPayment, called_at: number, transaction: string) {
  const made = aReceipt(0, called_at)
  const [listing_id = ''] = payment.listings
  return {
    ...made,
    receipt: { ...made.receipt, listing_id, transaction },
    payment: hash('sha256', markOf(payment)),
  }
}

describeStores('a call whose answer names another transaction', ({ newStore }) => {
  test('is found by what its payer signed', async () => {
    const store = await newStore()
    const mark = authorizationMarkOf({ network, payee, payer }, `0x${'c3'.repeat(32)}`)
    const payment = aPayment(1, 10_000)
    const row = {
      ...{ network, transaction_id: payment.transaction, log_index: 1, listing_id: '' },
      ...{ payer, payee, micro_usd: 1_000_000, amount: '1000000', settled_at: 10_000 },
      ...{ block_number: 7, scheme: 'eip3009' as const, authorization_hash: hash('sha256', mark) },
    }
    await store.db.insertInto('settlement').values(row).execute()
    const hidden = aCallOf(payment, 5_000, aTransaction(9))
    await insertReceipts(store, [{ ...hidden, authorization: hash('sha256', mark) }])
    const calls = await readJudgedCalls(store, [payment], 0)
    expect(calls).toMatchObject([
      { settled: payment.transaction, transaction: aTransaction(9), isNamed: true },
    ])
  })
})

describeStores('the receipts that a build reads', ({ newStore }) => {
  test('of one listing are all there, however many another has and whatever it names', async () => {
    const store = await newStore()
    const [ours, theirs] = [aPayment(1, 10_000), aPayment(2, 10_000, 'x402.rival')]
    const flood = Array.from({ length: 3_000 }, (_, n) =>
      aCallOf(theirs, 9_000 + n, aTransaction(n + 100)),
    )
    await insertReceipts(store, [aCallOf(ours, 5_000, ours.transaction), ...flood])
    const calls = await readJudgedCalls(store, [ours, theirs], 0)
    expect(calls.filter(({ listing_id }) => listing_id === 'x402.seller')).toHaveLength(1)
    expect(calls).toHaveLength(1_001)
  })

  test('keep the call of a payment, however many its seller writes for the same buyer', async () => {
    const store = await newStore()
    const payment = aPayment(1, 10_000)
    const flood = Array.from({ length: 2_500 }, (_, n) =>
      aCallOf(payment, 6_000 + n, n % 2 === 0 ? aTransaction(n + 100) : payment.transaction),
    )
    await insertReceipts(store, [aCallOf(payment, 5_000, payment.transaction), ...flood])
    const calls = await readJudgedCalls(store, [payment], 0)
    expect(calls).toHaveLength(1_010)
    expect(calls[0]).toMatchObject({ called_at: 5_000, transaction: payment.transaction })
    expect(calls.some(({ called_at }) => called_at === 8_498)).toBe(true)
  })
})
