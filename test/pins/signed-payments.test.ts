import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { judgePayment } from '../../src/domain/relay/pins.ts'
import { replaceAt } from '../support/replace-at.ts'
import { encode, PAYEE, THIEF } from './pinned-world.ts'

/**
 * What the client of `@x402/evm` 2.27.0 signed for $0.01 to one payee, recorded: by EIP-3009, by
 * Permit2, and by Permit2 for a ceiling (`upto`).
 */
const PAYMENTS: Record<string, object> = JSON.parse(
  readFileSync('test/fixtures/pins/client-payments.json', 'utf8'),
)
const EXPECTED = {
  payee: [`eip155:8453:${PAYEE}`],
  max_usd: 0.01,
}

const judge = (payment: object) =>
  judgePayment(['PAYMENT-SIGNATURE', encode(payment)], EXPECTED).map(({ what }) => what)

describe.each([
  ['exact', 'payload.authorization.to', 'payload.authorization.value'],
  [
    'permit2',
    'payload.permit2Authorization.witness.to',
    'payload.permit2Authorization.permitted.amount',
  ],
  [
    'upto',
    'payload.permit2Authorization.witness.to',
    'payload.permit2Authorization.permitted.amount',
  ],
])('a payment by %s', (name, payee, amount) => {
  const payment = PAYMENTS[name] ?? {}

  test('passes as its client signed it', () => {
    expect(judge(payment)).toEqual([])
  })

  test('is refused where it was signed for another payee or a higher amount', () => {
    expect(judge(replaceAt(payment, payee, THIEF))).toEqual(['payee'])
    expect(judge(replaceAt(payment, amount, '10001'))).toEqual(['price'])
    expect(judge(replaceAt(payment, 'accepted.payTo', THIEF))).toEqual(['payee'])
  })
})

const BASE = 'eip155:8453'
const COIN = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const accepted = { scheme: 'batch-settlement', network: BASE, asset: COIN, payTo: PAYEE }
const channelConfig = { payer: THIEF, receiver: PAYEE, token: COIN }

describe('a payment into a channel', () => {
  const batch = (changes: object) => ({
    x402Version: 2,
    accepted: { ...accepted, amount: '1000' },
    payload: {
      type: 'deposit',
      channelConfig,
      voucher: { channelId: '0x01', maxClaimableAmount: '1000', signature: '0x' },
      deposit: { amount: '10000', authorization: {} },
      ...changes,
    },
  })
  const voucher = (maxClaimableAmount: string) => ({ maxClaimableAmount })

  test('is judged by its channel, its deposit and its voucher', () => {
    expect(judge(batch({}))).toEqual([])
    const elsewhere = { ...channelConfig, receiver: THIEF }
    expect(judge(batch({ channelConfig: elsewhere }))).toEqual(['payee', 'payee'])
    expect(judge(batch({ deposit: { amount: '10001' } }))).toEqual(['price'])
    expect(
      judge(batch({ type: 'voucher', deposit: undefined, voucher: voucher('10001') })),
    ).toEqual(['price'])
    expect(judge(batch({ channelConfig: { ...channelConfig, token: THIEF } }))).toEqual([
      'price',
      'price',
    ])
  })
})

test.each([
  ['a transaction of Solana', { transaction: 'AQAB' }],
  ['a scheme that nobody knows', { anything: true }],
  ['nothing', {}],
  ['no object', 'text'],
])('a payload that is %s is refused, whatever stands beside it', (_name, payload) => {
  const payment = { x402Version: 2, accepted: { ...accepted, amount: '1000' }, payload }
  expect(judge(payment)).toEqual(['payee', 'price'])
})

describe('a credential of MPP', () => {
  const request = {
    amount: '10000',
    currency: COIN,
    recipient: PAYEE,
    methodDetails: { chainId: 8453 },
  }
  const challenge = { id: 'a', realm: 'r', method: 'evm', intent: 'charge' }
  const authorization = { type: 'authorization', from: THIEF, to: PAYEE, value: '10000' }
  const credential = (payload: object) =>
    judgePayment(
      [
        'Authorization',
        `Payment ${encode({ challenge: { ...challenge, request: encode(request) }, payload })}`,
      ],
      EXPECTED,
    ).map(({ what }) => what)

  test('is judged by what was signed too', () => {
    expect(credential(authorization)).toEqual([])
    expect(credential({ ...authorization, to: THIEF })).toEqual(['payee'])
    expect(credential({ ...authorization, value: '10001' })).toEqual(['price'])
    expect(credential({ type: 'hash', hash: '0x01' })).toEqual(['payee', 'price'])
  })
})
