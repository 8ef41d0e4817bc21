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

test('one client uses up its own receipts alone, however often it calls', () => {
  const judge = openWitness({
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
