import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { applyRetention, moveRows } from '../../functions/clicks/retention.ts'
import { readReceiptDays } from '../../functions/receipts/read-receipts.ts'
import {
  createSigner,
  findReceipt,
  insertReceipts,
  type NewReceipt,
  openReceipts,
  readReceiptKeys,
  rotateKeys,
} from '../../functions/receipts/receipts.ts'
import type { Store } from '../../functions/store/store.ts'
import { hashOfReceipt, isDaySigned, isReceiptSigned } from '../../packages/client/cli/verify.ts'
import { type Receipt, toSignedReceipt } from '../../src/domain/relay/receipt.ts'
import { toCanonicalJson } from '../../src/domain/wire/json.ts'
import { IS_LONG } from '../support/long.ts'
import { describeStores, silentLog } from '../support/stores.ts'
import { aTransaction } from './observed-relay.ts'
import { aReceipt, readKept } from './receipt-samples.ts'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const NOON = Date.UTC(2026, 10, 20, 12)

function open(store: Store) {
  let now = NOON
  const clock = { now: () => now }
  return {
    ...openReceipts({ store, clock, log: silentLog }),
    move: (milliseconds: number) => {
      now += milliseconds
    },
    now: clock.now,
  }
}

/** A call whose answer names no transaction, and whose payer signed this. */
function unnamed(
  n: number,
  at: number,
  listing = 'x402.seller',
  authorization = hash('sha256', `${n}`),
) {
  const made = aReceipt(n, at)
  return {
    ...made,
    ...{ receipt: { ...made.receipt, listing_id: listing }, authorization, isNamed: false },
  }
}

/** The meter saw what the payer of a call had signed. */
async function settle({ db }: Store, n: number, at: number): Promise<void> {
  const row = {
    ...{ network: 'eip155:8453', transaction_id: aTransaction(n), log_index: 1, listing_id: '' },
    ...{ payer: '0xa', payee: '0xb', micro_usd: 1_000_000, amount: '1000000', settled_at: at },
    ...{ block_number: 7, scheme: 'eip3009' as const, authorization_hash: hash('sha256', `${n}`) },
  }
  await db.insertInto('settlement').values(row).execute()
}

async function sign(store: Store, receipt: Receipt, now = NOON) {
  const { id: key, sign } = await createSigner(store, { now: () => now })()
  return { receipt, key, signature: sign(toSignedReceipt(receipt)) }
}

describeStores('receipts', ({ newStore }) => {
  test('are one row each, however often they are sent, in canonical JSON', async () => {
    const store = await newStore()
    const batch = [aReceipt(1), aReceipt(2), aReceipt(3)]
    await Promise.all([insertReceipts(store, batch), insertReceipts(store, batch.slice(1))])
    const kept = await readKept(store)
    expect(kept.map(({ receipt }) => receipt)).toEqual(
      batch.map(({ receipt }) => toCanonicalJson(receipt)),
    )
    const [first] = batch
    expect(await findReceipt(store, first?.receipt.id ?? '')).toMatchObject({
      receipt: first?.receipt,
    })
    expect(await findReceipt(store, 'A'.repeat(22))).toBeNull()
  })

  test('that come while others are written are written too', async () => {
    const store = await newStore()
    const receipts = open(store)
    receipts.add(aReceipt(1, NOON))
    const written = receipts.written()
    for (let n = 2; n < 66; n += 1) receipts.add(aReceipt(n, NOON))
    await written
    await receipts.close()
    expect(await readKept(store)).toHaveLength(65)
  })

  test('of a day whose file is complete are not written any more', async () => {
    const store = await newStore()
    const receipts = open(store)
    receipts.add(aReceipt(1, NOON - 2 * HOUR))
    receipts.add(aReceipt(2, NOON - HOUR))
    await receipts.close()
    expect((await readKept(store)).map(({ called_at }) => called_at)).toEqual([NOON - HOUR])
  })

  test('follow a listing that gets another id, and stay as they were signed', async () => {
    const store = await newStore()
    const { receipt, ...rest } = aReceipt(1)
    await insertReceipts(store, [{ receipt, ...rest }])
    await moveRows(store.db, new Map([['x402.seller', 'x402.new']]), () => true)
    expect(await findReceipt(store, receipt.id)).toEqual({ receipt, listingId: 'x402.new' })
  })

  test('are signed by the key of the day, and a key that was rotated out signs nothing later', async () => {
    const store = await newStore()
    const { receipt } = aReceipt(1, NOON)
    const before = await sign(store, receipt)
    await rotateKeys(store, NOON + HOUR)
    const keys = await readReceiptKeys(store, true)
    expect(keys.keys.map(({ until }) => until !== undefined)).toEqual([true, false])
    expect(isReceiptSigned(before, keys)).toBe(true)
    expect(isReceiptSigned(await sign(store, receipt), keys)).toBe(true)
    const changed = { ...receipt, verdict: 'empty' as const }
    expect(isReceiptSigned({ ...before, receipt: changed }, keys)).toBe(false)
    // Whoever stole the old key can sign what came before it was retired, and nothing later.
    const late = { ...receipt, at: new Date(NOON + 2 * HOUR).toISOString() }
    const stolen = { ...(await sign(store, late)), key: before.key, signature: before.signature }
    expect(isReceiptSigned(stolen, keys)).toBe(false)
    const secrets = await store.db.selectFrom('receipt_key').select('secret').execute()
    expect(secrets.filter(({ secret }) => secret === null)).toHaveLength(1)
  })
})

describeStores('a call whose answer names no transaction', ({ newStore }) => {
  test('becomes a receipt once the meter found what its payer had signed', async () => {
    const store = await newStore()
    const receipts = open(store)
    for (const n of [1, 2, 3]) receipts.wait(unnamed(n, NOON), 'buyer')
    await receipts.findPayments()
    await receipts.written()
    expect(await readKept(store)).toEqual([])
    expect(receipts.hasWaitedSince(NOON - 1)).toBe(true)
    await settle(store, 2, NOON + MINUTE)
    receipts.move(5 * MINUTE)
    await receipts.findPayments()
    await receipts.findPayments()
    await receipts.written()
    const kept = await readKept(store)
    expect(kept.map(({ receipt }) => JSON.parse(receipt))).toMatchObject([
      { ms: 2, transaction: aTransaction(2) },
    ])
    expect(kept[0]).toMatchObject({ is_named: 0, authorization_hash: hash('sha256', '2') })
  })

  test('becomes one alone, the earliest, where others carried the same payment', async () => {
    const store = await newStore()
    const receipts = open(store)
    // It was answered later than the copy that came after it.
    for (const after of [20_000, 5_000, 0])
      receipts.wait(unnamed(after, NOON + after, 'x402.seller', hash('sha256', '7')), 'buyer')
    // Of a payment that settled before its call came, which anybody can read from the chain.
    receipts.wait(unnamed(1, NOON + MINUTE, 'x402.seller', hash('sha256', '8')), 'rival')
    for (const n of [7, 8]) await settle(store, n, NOON + 10_000)
    await receipts.findPayments()
    await receipts.close()
    expect((await readKept(store)).map(({ called_at }) => called_at)).toEqual([NOON])
  })

  test('goes after an hour, and leaves nothing', async () => {
    const store = await newStore()
    const receipts = open(store)
    receipts.wait(unnamed(1, NOON), 'buyer')
    receipts.move(HOUR + MINUTE)
    await settle(store, 1, NOON + MINUTE)
    await receipts.findPayments()
    await receipts.close()
    expect(await readKept(store)).toEqual([])
    expect(receipts.hasWaitedSince(0)).toBe(false)
  })

  /** Which of these calls would still become receipts. */
  async function findLeft(calls: readonly [call: NewReceipt, client: string][], wanted: number[]) {
    const store = await newStore()
    const receipts = open(store)
    for (const [call, client] of calls) receipts.wait(call, client)
    for (const n of wanted) await settle(store, n, NOON)
    await receipts.findPayments()
    await receipts.close()
    const left = (await readKept(store)).map(({ receipt }) => JSON.parse(receipt).ms)
    return left.sort((a, b) => a - b)
  }

  test('is not pushed out by a client that floods its listing, or every listing', async () => {
    const flood = Array.from({ length: 600 }, (_, n): [NewReceipt, string] => [
      unnamed(n + 10, NOON),
      'rival',
    ])
    const everywhere = Array.from({ length: 600 }, (_, n): [NewReceipt, string] => [
      unnamed(n + 1_000, NOON, `x402.of-${n}`),
      'rival',
    ])
    const buyer: [NewReceipt, string] = [unnamed(1, NOON), 'buyer']
    expect(await findLeft([buyer, ...flood, ...everywhere], [1, 10, 1_599])).toEqual([1, 1_599])
  })

  test('is not pushed out by other clients of its listing while they have more, nor by other listings', async () => {
    const ofListing = Array.from({ length: 1_200 }, (_, n): [NewReceipt, string] => [
      unnamed(n + 10, NOON),
      `rival ${n % 12}`,
    ])
    const ofOthers = Array.from({ length: IS_LONG ? 9_000 : 900 }, (_, n): [NewReceipt, string] => [
      unnamed(n + 2_000, NOON, `x402.of-${n % 20}`),
      `many ${n % 100}`,
    ])
    const buyer: [NewReceipt, string] = [unnamed(1, NOON), 'buyer']
    expect(await findLeft([buyer, ...ofListing, ...ofOthers], [1])).toEqual([1])
  })
})

describeStores('the days of receipts', ({ newStore }) => {
  const START = Date.UTC(2026, 10, 18)
  const all = Array.from({ length: 40 }, (_, n) => aReceipt(n, START + n * 2 * HOUR))

  test('are published when they are over, signed, with each receipt of theirs', async () => {
    const store = await newStore()
    await insertReceipts(store, all.toReversed())
    const days = await readReceiptDays(store, START + 3 * DAY + HOUR)
    expect(days.map(({ day, receipts }) => [day, receipts])).toEqual([
      ['2026-11-18', 12],
      ['2026-11-19', 12],
    ])
    const keys = await readReceiptKeys(store, true)
    for (const { file, ...day } of days) {
      expect(isDaySigned(day, file, keys)).toBe(true)
      const lines = file.split('\n').filter(Boolean)
      expect(lines).toEqual([...lines].sort())
      const own = all.filter(({ receipt }) => receipt.at.startsWith(day.day))
      expect(new Set(lines)).toEqual(new Set(own.map(({ receipt }) => hashOfReceipt(receipt))))
      // A receipt less, one more, or another number: the statement is not about this file.
      const without = file.slice(65)
      expect(isDaySigned(day, without, keys)).toBe(false)
      expect(isDaySigned({ ...day, receipts: day.receipts - 1 }, without, keys)).toBe(false)
      expect(isDaySigned({ ...day, sha256: hash('sha256', without) }, without, keys)).toBe(false)
    }
    // The same ledger gives the same bytes, and the next day adds its own.
    expect(await readReceiptDays(store, START + 3 * DAY + HOUR)).toEqual(days)
    const later = await readReceiptDays(store, START + 3 * DAY + 2 * HOUR)
    expect(later.slice(0, 2)).toEqual(days)
    expect(later.map(({ day }) => day)).toEqual(['2026-11-18', '2026-11-19', '2026-11-20'])
  })

  test('miss a receipt that was taken back or rewritten', async () => {
    const store = await newStore()
    await insertReceipts(store, all)
    const [before] = await readReceiptDays(store, START + 5 * DAY)
    const [taken] = all
    await store.db
      .deleteFrom('receipt')
      .where('id', '=', taken?.receipt.id ?? '')
      .execute()
    const [after] = await readReceiptDays(store, START + 5 * DAY)
    expect([before?.receipts, after?.receipts]).toEqual([12, 11])
    expect(after?.sha256).not.toBe(before?.sha256)
    // Both are signed: whoever has the first one can show it.
    const keys = await readReceiptKeys(store, true)
    if (before === undefined) throw new Error('expected a day')
    expect(isDaySigned(before, before.file, keys)).toBe(true)
  })

  test('end with their receipts, whole days at a time', async () => {
    const store = await newStore()
    await insertReceipts(store, all)
    const now = START + 401 * DAY + 13 * HOUR
    const before = await readReceiptDays(store, now)
    await applyRetention(store, now)
    expect(await readReceiptDays(store, now)).toEqual(before)
    expect(before.map(({ day }) => day)).toEqual(['2026-11-20', '2026-11-21'])
  })

  test('are none without receipts, and no key is made for them', async () => {
    const store = await newStore()
    expect(await readReceiptDays(store, NOON)).toEqual([])
    expect((await readReceiptKeys(store, true)).keys).toEqual([])
  })
})
