import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { parseConfig } from '../../functions/ports/config.ts'
import { createWitness, WITNESS_LIMITS } from '../../functions/receipts/witness.ts'
import { aListing, BASE_URL } from '../call/relay-world.ts'
import { aTransaction, paymentHeaders, settledHeaders } from './witness-world.ts'

/** A witness that judges nothing, and how many calls of a client to a listing it would have judged. */
function openWitness(bounds: Partial<typeof WITNESS_LIMITS>) {
  let judged = 0
  const witness = createWitness({
    config: parseConfig({ BASE_URL }),
    clock: { now: Date.now },
    judge() {
      judged += 1
    },
    bounds: { ...WITNESS_LIMITS, ...bounds },
  })
  const nothing = { onHead() {}, onData: () => true, onEnd() {}, onFail() {} }
  const pass = (client: string, id: string, isSettled: boolean) => {
    const headers = Object.entries(paymentHeaders('x402-v2')).flat()
    const declared = [{ method: 'GET' as const, url: 'https://seller.example/', digest: 'd' }]
    const listing = aListing('https://seller.example/', { id, declared })
    const req = { method: 'GET', rawHeaders: headers, headers: {} } as unknown as IncomingMessage
    const watch = witness.watch(req, { listing, path: '/', client })
    const listener = watch?.listen(nothing, () => true)
    const settled = isSettled
      ? Object.entries(settledHeaders('x402-v2', aTransaction(1))).flat()
      : []
    listener?.onHead({ status: 200, reason: 'OK', headers: settled })
    listener?.onEnd()
  }
  return (calls: number, client: string, id: string, isSettled = true) => {
    const before = judged
    for (let n = 0; n < calls; n += 1) pass(client, id, isSettled)
    return judged - before
  }
}

const TIGHT = {
  ...{ firstOfClient: 2, firstInAll: 40, receiptsOfClient: 8, unsettledOfClient: 6 },
  ...{ receiptsOfListing: 10, receiptsInAll: 10, unsettledOfListing: 10, unsettledInAll: 10 },
}

test('a seller that uses up its receipts hides nothing from a buyer it has not met', () => {
  const judge = openWitness(TIGHT)
  for (let n = 0; n < 15; n += 1) judge(20, `own ${n}`, 'x402.a', n % 2 === 0)
  expect(judge(1, 'buyer', 'x402.a', false)).toBe(1)
  expect(judge(1, 'other', 'x402.a', true)).toBe(1)
  expect(judge(9, 'buyer', 'x402.a', false)).toBe(1)
  // And of another listing, whose receipts are used up in all.
  expect(judge(9, 'third', 'x402.b', false)).toBe(2)
})

test('what buyers get first is bounded in all', () => {
  const judge = openWitness({ ...TIGHT, firstInAll: 5 })
  for (let n = 0; n < 50; n += 1) judge(2, `own ${n}`, 'x402.a')
  expect(judge(2, 'buyer', 'x402.a')).toBe(0)
})

test('the many clients of one IPv6 network are one client', () => {
  const judge = openWitness(TIGHT)
  let judged = 0
  for (let n = 0; n < 100; n += 1)
    judged += judge(2, `20010db80001${n.toString(16).padStart(4, '0')}::/64`, 'x402.a', false)
  expect(judged).toBe(TIGHT.unsettledOfClient)
})

test('one client uses up its own receipts alone, however often it calls', () => {
  const judge = openWitness({
    firstOfClient: 0,
    receiptsOfClient: 5,
    receiptsInAll: 20,
    unsettledOfClient: 2,
    unsettledInAll: 6,
  })
  expect(judge(100, 'rival', 'x402.a')).toBe(5)
  expect(judge(4, 'buyer', 'x402.b')).toBe(4)
  expect(judge(100, 'third', 'x402.a', false)).toBe(2)
  expect(judge(2, 'fourth', 'x402.b', false)).toBe(2)
})

test('a seller’s own callers use up its own receipts alone', () => {
  const judge = openWitness({
    firstOfClient: 0,
    receiptsOfListing: 10,
    receiptsInAll: 20,
    unsettledOfListing: 3,
    unsettledInAll: 6,
  })
  expect(judge(50, 'one', 'x402.a') + judge(50, 'two', 'x402.a')).toBe(10)
  expect(judge(5, 'buyer', 'x402.b')).toBe(5)
  expect(judge(50, 'three', 'x402.c', false)).toBe(3)
  expect(judge(2, 'four', 'x402.d', false)).toBe(2)
})
