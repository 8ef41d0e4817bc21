import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { parseConfig } from '../../functions/ports/config.ts'
import { createCallObserver, OBSERVER_BOUNDS } from '../../functions/receipts/observe-call.ts'
import type { NewReceipt } from '../../functions/receipts/receipts.ts'
import { aListing, BASE_URL } from '../call/relay-world.ts'
import { silentLog } from '../support/stores.ts'
import { aTransaction, paymentHeaders, settledHeaders } from './observed-relay.ts'

const PAID = Object.entries(paymentHeaders('x402-v2')).flat()
const NAMED = Object.entries(settledHeaders('x402-v2', aTransaction(1))).flat()
const GOOD = Buffer.from('{"city":"Oslo"}')

/** An observer of calls without sockets, and the receipts it makes. */
function openObserver(bounds: Partial<typeof OBSERVER_BOUNDS>) {
  const made: NewReceipt[] = []
  const row = {
    ...{ listing_id: 'x402.a', digest: 'd', method: 'GET' as const },
    ...{ url: 'https://seller.example/', response: { content_type: 'application/json' } },
  }
  const observer = createCallObserver({
    config: parseConfig({ BASE_URL }),
    clock: { now: Date.now },
    log: silentLog,
    receipts: { add: (receipt) => void made.push(receipt), wait() {} },
    declared: async () => new Map([['d', row]]),
    bounds: { ...OBSERVER_BOUNDS, ...bounds },
  })
  const open = (client: string, id: string) => {
    const declared = [{ method: 'GET' as const, url: 'https://seller.example/', digest: 'd' }]
    const listing = aListing('https://seller.example/', { id, declared })
    const req = { method: 'GET', rawHeaders: PAID, headers: {} } as unknown as IncomingMessage
    const call = observer.observe(req, { listing, path: '/', client })
    if (call === null) throw new Error('expected it to be observed')
    call.onHead({ status: 200, reason: 'OK', headers: NAMED })
    return call
  }
  return {
    open,
    made,
    idle: observer.idle,
    /** How many receipts such calls get. */
    async judge(calls: number, client: string, id: string): Promise<number> {
      const before = made.length
      for (let n = 0; n < calls; n += 1) {
        const call = open(client, id)
        call.onData(GOOD)
        call.onEnd()
      }
      await observer.idle()
      return made.length - before
    },
  }
}

const TIGHT = { firstOfClient: 2, firstInAll: 40, ofClient: 8, ofListing: 10, inAll: 10 }

test('a seller that uses up its receipts hides nothing from a buyer it has not met', async () => {
  const { judge } = openObserver(TIGHT)
  for (let n = 0; n < 15; n += 1) await judge(20, `own ${n}`, 'x402.a')
  expect(await judge(1, 'buyer', 'x402.a')).toBe(1)
  expect(await judge(9, 'buyer', 'x402.a')).toBe(1)
  // And of another listing, whose receipts are used up in all.
  expect(await judge(9, 'third', 'x402.b')).toBe(2)
})

test('what buyers get first is bounded in all', async () => {
  const { judge } = openObserver({ ...TIGHT, firstInAll: 5 })
  for (let n = 0; n < 50; n += 1) await judge(2, `own ${n}`, 'x402.a')
  expect(await judge(2, 'buyer', 'x402.a')).toBe(0)
})

test('the many clients of one IPv6 network are one client', async () => {
  const { judge } = openObserver(TIGHT)
  let judged = 0
  for (let n = 0; n < 100; n += 1)
    judged += await judge(2, `20010db80001${n.toString(16).padStart(4, '0')}::/64`, 'x402.a')
  expect(judged).toBe(TIGHT.ofClient)
})

test('one client uses up its own receipts alone, however often it calls', async () => {
  const { judge } = openObserver({ firstOfClient: 0, ofClient: 5, inAll: 20 })
  expect(await judge(100, 'rival', 'x402.a')).toBe(5)
  expect(await judge(4, 'buyer', 'x402.b')).toBe(4)
})

test('a seller’s own callers use up its own receipts alone', async () => {
  const { judge } = openObserver({ firstOfClient: 0, ofListing: 10, inAll: 20 })
  expect((await judge(50, 'one', 'x402.a')) + (await judge(50, 'two', 'x402.a'))).toBe(10)
  expect(await judge(5, 'buyer', 'x402.b')).toBe(5)
})

test('where copies take too much the largest go, and nobody is blamed for that', async () => {
  const { open, made, idle } = openObserver({ copies: 1_000 })
  const buyer = open('buyer', 'x402.a')
  buyer.onData(GOOD)
  const flood = Array.from({ length: 20 }, () => open('rival', 'x402.b'))
  for (const call of flood) call.onData(Buffer.alloc(300, ' '))
  buyer.onEnd()
  for (const call of flood) call.onEnd()
  await idle()
  expect(made.map(({ receipt }) => receipt.verdict)).not.toContain('too_large_to_judge')
  expect(made.filter(({ receipt }) => receipt.listing_id === 'x402.a')).toHaveLength(1)
  expect(made.length).toBeLessThanOrEqual(4)
  // What was freed serves the next ones.
  const next = open('buyer', 'x402.a')
  next.onData(Buffer.alloc(900, ' '))
  next.onEnd()
  await idle()
  expect(made.at(-1)?.receipt).toMatchObject({ listing_id: 'x402.a', verdict: 'empty' })
})

test('a refusal is judged although its copy had to go', async () => {
  const { open, made, idle } = openObserver({ copies: 10 })
  const call = open('buyer', 'x402.a')
  call.onHead({ status: 500, reason: 'No', headers: NAMED })
  call.onData(GOOD)
  call.onEnd()
  await idle()
  expect(made[0]?.receipt).toMatchObject({ verdict: 'refused', answer: null, request: null })
})
