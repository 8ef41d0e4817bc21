import { expect, test } from 'vitest'
import { markOfChallenge, markOfRealm } from '../../src/domain/settlement/schemes/tempo-charge.ts'
import { readSettlementClaim } from '../../src/domain/settlement/settlement-claim.ts'
import {
  CLAIM,
  encode,
  HASH,
  NETWORK,
  NONCE,
  PAYER,
  PAYMENT_V2,
  PAYOUT,
  SETTLED,
  TOKEN,
  wallet,
} from './samples.ts'

const PAYMENT_V1 = {
  x402Version: 1,
  scheme: 'exact',
  network: 'base-sepolia',
  payload: PAYMENT_V2.payload,
}

test('x402 v2: the claim is the seller’s hash with the caller’s authorisation', () => {
  const claim = readSettlementClaim(
    ['PAYMENT-SIGNATURE', encode(PAYMENT_V2)],
    ['PAYMENT-RESPONSE', encode(SETTLED)],
  )
  expect(claim).toEqual(CLAIM)
})

test('x402 v1 names its networks', () => {
  const settled = { ...SETTLED, network: 'base-sepolia' }
  const claim = readSettlementClaim(
    ['X-PAYMENT', encode(PAYMENT_V1)],
    ['X-PAYMENT-RESPONSE', encode(settled)],
  )
  expect(claim).toEqual(CLAIM)
})

test('MPP: chain and terms are the challenge’s', () => {
  const challenge = { method: 'evm', request: encode({ methodDetails: { chainId: 84532 } }) }
  const payload = { type: 'authorization', from: PAYER, value: '1000', nonce: NONCE }
  const url = (value: object) =>
    encode(value).replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_')
  const claim = readSettlementClaim(
    ['Authorization', `Payment ${url({ challenge, payload })}`],
    ['Payment-Receipt', url({ method: 'evm', status: 'success', reference: HASH })],
  )
  expect(claim).toEqual(CLAIM)
})

test('x402 by Permit2: who may take how much, and the nonce, are the caller’s', () => {
  const permit2Authorization = {
    from: PAYER.toUpperCase().replace('0X', '0x'),
    permitted: { token: TOKEN, amount: '5000' },
    spender: wallet(1),
    nonce: '77',
    deadline: '9',
    witness: { to: PAYOUT, validAfter: '0' },
  }
  const payment = { ...PAYMENT_V2, payload: { signature: '0x00', permit2Authorization } }
  const claim = readSettlementClaim(
    ['PAYMENT-SIGNATURE', encode(payment)],
    ['PAYMENT-RESPONSE', encode({ ...SETTLED, amount: '1200' })],
  )
  expect(claim).toEqual({ ...CLAIM, scheme: 'permit2', amount: '5000', nonce: '77' })
})

test('MPP on Tempo: realm and challenge are what the memo will say', () => {
  const challenge = {
    id: 'a challenge',
    realm: 'seller.test',
    method: 'tempo',
    intent: 'charge',
    request: encode({ amount: '1000', methodDetails: { chainId: 4217 } }),
  }
  const ask = (
    changes: object,
    receipt = { method: 'tempo', status: 'success', reference: HASH },
  ) =>
    readSettlementClaim(
      ['Authorization', `Payment ${encode({ challenge, payload: { type: 'hash' }, ...changes })}`],
      ['Payment-Receipt', encode(receipt)],
    )
  expect(ask({})).toEqual({
    family: 'evm',
    scheme: 'tempo_charge',
    network: 'eip155:4217',
    transaction: HASH,
    amount: '1000',
    realm: markOfRealm('seller.test'),
    challenge: markOfChallenge('a challenge'),
  })
  expect(ask({ payload: { type: 'proof' } })).toBeNull()
  expect(ask({ challenge: { ...challenge, intent: 'session' } })).toBeNull()
  expect(ask({}, { method: 'evm', status: 'success', reference: HASH })).toBeNull()
})

test('Solana: the caller’s own transaction goes along', () => {
  const network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
  const transaction = '5'.repeat(88)
  const payment = { accepted: { network }, payload: { transaction: 'AQID' } }
  const claim = readSettlementClaim(
    ['PAYMENT-SIGNATURE', encode(payment)],
    ['PAYMENT-RESPONSE', encode({ success: true, transaction, network })],
  )
  expect(claim).toEqual({
    family: 'solana',
    scheme: 'solana_exact',
    network,
    transaction,
    authorised: 'AQID',
  })
})

test.each([
  ['a failure', PAYMENT_V2, { ...SETTLED, success: false }],
  ['success as text', PAYMENT_V2, { ...SETTLED, success: 'true' }],
  ['no transaction', PAYMENT_V2, { success: true }],
  ['an empty transaction', PAYMENT_V2, { ...SETTLED, transaction: '' }],
  ['a short hash', PAYMENT_V2, { ...SETTLED, transaction: '0xabcd' }],
  ['another chain than was paid on', PAYMENT_V2, { ...SETTLED, network: 'eip155:1' }],
  ['an unknown chain', { ...PAYMENT_V1, network: 'dogecoin' }, { ...SETTLED, network: 'dogecoin' }],
  ['no authorisation', { ...PAYMENT_V2, payload: { permit2Authorization: {} } }, SETTLED],
  [
    'an amount of nothing',
    { ...PAYMENT_V2, payload: { authorization: { from: PAYER, value: '0', nonce: NONCE } } },
    SETTLED,
  ],
  ['a Solana hash on an EVM chain', PAYMENT_V2, { ...SETTLED, transaction: '5'.repeat(88) }],
])('%s is no claim', (_name, payment, settled) => {
  expect(
    readSettlementClaim(
      ['PAYMENT-SIGNATURE', encode(payment)],
      ['PAYMENT-RESPONSE', encode(settled)],
    ),
  ).toBeNull()
})

test.each([
  [[], ['PAYMENT-RESPONSE', encode(SETTLED)]],
  [['PAYMENT-SIGNATURE', encode(PAYMENT_V2)], []],
  [
    ['PAYMENT-SIGNATURE', 'not base64 !'],
    ['PAYMENT-RESPONSE', encode(SETTLED)],
  ],
  [
    ['PAYMENT-SIGNATURE', encode(PAYMENT_V2)],
    ['PAYMENT-RESPONSE', 'e30='],
  ],
  [
    ['PAYMENT-SIGNATURE', encode(PAYMENT_V2)],
    ['PAYMENT-RESPONSE', `${'A'.repeat(70_000)}`],
  ],
  [
    ['PAYMENT-SIGNATURE', 'bnVsbA=='],
    ['PAYMENT-RESPONSE', 'bnVsbA=='],
  ],
])('half a story is no claim', (request, response) => {
  expect(readSettlementClaim(request, response)).toBeNull()
})

test('the network is the payment’s when the seller names none', () => {
  const { network: _, ...settled } = SETTLED
  const claim = readSettlementClaim(
    ['PAYMENT-SIGNATURE', encode(PAYMENT_V2)],
    ['PAYMENT-RESPONSE', encode(settled)],
  )
  expect(claim?.network).toBe(NETWORK)
})
