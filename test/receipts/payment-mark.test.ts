import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  authorizationMarkOf,
  createPaymentMarks,
  decodePayments,
  toPaymentMarks,
} from '../../src/domain/relay/delivered.ts'
import { aTransaction, paymentHeaders } from './observed-relay.ts'

/**
 * Transfers of a thousandth of a test dollar, as `@solana/kit` 6 and `@solana-program/token` sign them for
 * x402: with a price of compute before, somebody else for the fee, in both versions of a transaction.
 */
const SOLANA: Record<'buyer' | 'shop' | 'v0' | 'legacy', string> = JSON.parse(
  readFileSync('test/fixtures/pins/solana-transfers.json', 'utf8'),
)
const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
const MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'
const markOf = createPaymentMarks()
const metered = (change: object = {}) =>
  markOf({
    ...{ network: NETWORK, asset: MINT, payee: SOLANA.shop, payer: SOLANA.buyer },
    ...{ transaction: aTransaction(1), log: 0, at: 0, amount: '1000', usd_micro: 1000 },
    ...{ scheme: 'solana_exact', listings: [], verdict: 'counted' },
    ...change,
  })

const markIn = (payments: readonly object[]) => toPaymentMarks(payments)?.payment

const v1 = (transaction: string) => ({
  ...{ x402Version: 1, scheme: 'exact', network: 'solana-devnet', payload: { transaction } },
})
const v2 = (transaction: string) => ({
  x402Version: 2,
  accepted: { scheme: 'exact', network: NETWORK, amount: '1000', asset: MINT, payTo: SOLANA.shop },
  payload: { transaction },
})

test.each([
  ['x402 v1', v1(SOLANA.legacy)],
  ['x402 v1, of a version', v1(SOLANA.v0)],
  ['x402 v2', v2(SOLANA.v0)],
])('a payment on Solana by %s is found among those of the meter', (_, payment) => {
  expect(markIn([payment])).toBe(metered())
  expect(markIn([payment])).not.toBe(metered({ payer: SOLANA.shop }))
  expect(markIn([payment])).not.toBe(metered({ payee: SOLANA.buyer }))
})

test.each(['x402-v1', 'x402-v2', 'mpp'] as const)('a payment by %s on EVM is too', (rail) => {
  const payment = { payer: `0x${'a1'.repeat(20)}`, payee: `0x${'b2'.repeat(20)}` }
  const sent = decodePayments(
    Object.entries(paymentHeaders(rail, ...Object.values(payment))).flat(),
  )
  expect(markIn(sent)).toBe(metered({ network: 'eip155:84532', ...payment }))
  const nonce = `0x${'Ab'.repeat(32)}`
  const signed = sent.map((one) => {
    const { payload } = one as { payload: Record<string, object> }
    const inner = payload.authorization
    const withNonce = inner === undefined ? { nonce } : { authorization: { ...inner, nonce } }
    return { ...one, payload: { ...payload, ...withNonce } }
  })
  const mark = authorizationMarkOf({ network: 'eip155:84532', ...payment }, nonce.toLowerCase())
  expect(toPaymentMarks(signed)?.authorization).toBe(mark)
})

test('a request that names two payers has no mark: nobody brands a seller in another buyer’s name', () => {
  const [buyer, rival, shop] = ['a1', 'c3', 'b2'].map((byte) => `0x${byte.repeat(20)}`)
  const sent = (payer = '') =>
    decodePayments(Object.entries(paymentHeaders('x402-v2', payer, shop ?? '')).flat())
  expect(toPaymentMarks(sent(rival))).not.toBeNull()
  expect(toPaymentMarks([...sent(buyer), ...sent(rival)])).toBeNull()
  // A seller that is paid by Permit2 reads the second member, and does not look at the first.
  const [paid] = sent(rival) as { payload: { authorization: object } }[]
  const permit2Authorization = {
    ...{ from: rival, permitted: { token: shop, amount: '1000' }, nonce: '1', deadline: '1' },
    witness: { to: shop },
  }
  const both = { ...paid?.payload.authorization, from: buyer }
  const mixed = { ...paid, payload: { authorization: both, permit2Authorization } }
  expect(toPaymentMarks([mixed])).toBeNull()
})

test('what is cut, doubled or nonsense has no mark', () => {
  const bytes = Buffer.from(SOLANA.v0, 'base64')
  for (let size = 0; size < bytes.length - 1; size += 7)
    expect(toPaymentMarks([v1(bytes.subarray(0, size).toString('base64'))])).toBeNull()
  const hostile = ['', '!', 'AAAA', '/'.repeat(2000), Buffer.alloc(1000, 0xff).toString('base64')]
  for (const text of hostile) expect(toPaymentMarks([v1(text)])).toBeNull()
  expect(toPaymentMarks([{ ...v1(''), payload: { transaction: 7 } }])).toBeNull()
})
