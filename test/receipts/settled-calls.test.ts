import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { readWitnessedCalls } from '../../functions/receipts/log/read-deliveries.ts'
import { appendReceipts } from '../../functions/receipts/log/receipt-log.ts'
import { toSettlementRow } from '../../functions/settlements/settlement-rows.ts'
import { authorizationMarkOf } from '../../src/domain/receipts/payment-mark.ts'
import { describeStores } from '../support/stores.ts'
import { aReceipt } from './receipt-samples.ts'

describeStores('a call whose answer names no transaction', ({ newStore }) => {
  test('is found by what its payer signed, and a header without that is not', async () => {
    const store = await newStore()
    const [payer, payee] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
    const [network, transaction] = ['eip155:8453', `0x${'1'.repeat(64)}`]
    const mark = authorizationMarkOf({ network, payee, payer }, `0x${'c3'.repeat(32)}`)
    const other = authorizationMarkOf({ network, payee, payer }, `0x${'d4'.repeat(32)}`)
    const row = toSettlementRow({
      ...{ network, transaction, log: 1, listing_id: '', payer, payee, usd: 1, amount: '1000000' },
      ...{ at: 1_000, block: 7, scheme: 'eip3009', authorization: mark },
    })
    await store.db.insertInto('settlement').values(row).execute()
    const payment = hash('sha256', 'who pays whom')
    const authorizations = [hash('sha256', mark), hash('sha256', other), null]
    await appendReceipts(
      store,
      authorizations.map((authorization, n) => ({ ...aReceipt(n), payment, authorization })),
    )
    const calls = await readWitnessedCalls(store, 0)
    expect(calls.map(({ settled }) => settled)).toEqual([transaction, null, null])
  })
})
