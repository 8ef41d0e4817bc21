import { describe, expect, test } from 'vitest'
import { normalizePayout, PayoutSchema } from '../../src/domain/listing/networks.ts'
import {
  listedPriceOf,
  lowestPriceOf,
  PricingSchema,
  railsOf,
  toCostText,
  toPriceText,
  toSumText,
  toUsd,
} from '../../src/domain/listing/pricing.ts'
import { findFaults, SAMPLE_FACTS } from './listing-samples.ts'

const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const PER_CALL = SAMPLE_FACTS.pricing

describe('pricing', () => {
  test.each([
    ['per call', PER_CALL],
    ['one price', { ...PER_CALL, max_usd: 0.01 }],
    ['free', { ...PER_CALL, min_usd: 0, max_usd: 0 }],
    [
      'both rails on two chains',
      { ...PER_CALL, rails: ['x402', 'mpp'], networks: ['eip155:1', SOLANA] },
    ],
    ['cards only: no network', { ...PER_CALL, rails: ['mpp'], networks: [] }],
    ['unknown', { model: 'unknown' }],
  ])('%s is fine', (_, pricing) => {
    expect(findFaults(PricingSchema, pricing)).toEqual([])
  })

  test.each([
    ['unknown with a price', { model: 'unknown', min_usd: 1 }, /^min_usd: /],
    [
      'another model',
      { model: 'monthly' },
      /^model: expected model per_call or unknown; a free service has/,
    ],
    ['no rail', { ...PER_CALL, rails: [] }, /^rails: expected at least one rail/],
    ['a rail twice', { ...PER_CALL, rails: ['x402', 'x402'] }, /^rails: expected each rail once$/],
    ['another rail', { ...PER_CALL, rails: ['visa'] }, /^rails\.0: expected x402 or mpp$/],
    ['a text', { ...PER_CALL, min_usd: 'free' }, /^min_usd: expected a number of US dollars/],
    [
      'less than nothing',
      { ...PER_CALL, min_usd: -0.01 },
      /^min_usd: expected a price of 0 or more/,
    ],
    ['not a number', { ...PER_CALL, max_usd: Number.NaN }, /^max_usd: expected a number/],
    [
      'without end',
      { ...PER_CALL, max_usd: Number.POSITIVE_INFINITY },
      /^max_usd: .*at most 100000/,
    ],
    ['a ceiling', { ...PER_CALL, max_usd: 100_001 }, /^max_usd: .*at most 100000 USD/],
    ['upside down', { ...PER_CALL, max_usd: 0.009 }, /^max_usd: expected max_usd to be at least/],
    [
      'a network twice',
      { ...PER_CALL, networks: ['eip155:1', 'eip155:1'] },
      /^networks: expected each/,
    ],
    ['no networks', { model: 'per_call', min_usd: 0, max_usd: 0, rails: ['mpp'] }, /^networks: /],
  ])('%s is refused', (_, pricing, message) => {
    expect(findFaults(PricingSchema, pricing).join('\n')).toMatch(message)
  })

  test.each([
    'base',
    'eip155:0',
    'eip155:08453',
    'eip155:8453:0x00',
    'EIP155:8453',
    'stellar:pubnet',
    'algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=',
    'xrpl:0',
    'solana:mainnet',
    'solana:0OIl0OIl0OIl0OIl0OIl0OIl0OIl0OIl',
  ])('%s is not a network', (network) => {
    expect(findFaults(PricingSchema, { ...PER_CALL, networks: [network] })).toEqual([
      'networks.0: expected eip155:<chain id> or solana:<chain reference>, such as eip155:8453',
    ])
  })

  test('an unknown price has no number and no rail', () => {
    expect(railsOf({ model: 'unknown' })).toEqual([])
    expect(lowestPriceOf({ model: 'unknown' })).toBeNull()
    expect(lowestPriceOf(PER_CALL)).toBe(0.01)
  })
})

describe('prices as people read them', () => {
  test.each([
    [0, '$0'],
    [0.002, '$0.002'],
    [0.01, '$0.01'],
    [12.345, '$12.35'],
    [412, '$412'],
  ])('a sum of %d is %s: small is not nothing', (usd, text) => {
    expect(toSumText(usd)).toBe(text)
  })

  test.each([
    [0, '$0'],
    [3, '$3'],
    [1.5, '$1.50'],
    [0.02, '$0.02'],
    [0.1 + 0.2, '$0.30'],
    [0.1 * 3, '$0.30'],
    [1.005, '$1.005'],
    [0.0005, '$0.0005'],
    [0.000001, '$0.000001'],
    [1e-10, '$0.0000000001'],
    [1e-11, 'under $0.0000000001'],
    [100, '$100'],
    [100_000, '$100000'],
    [1200.5, '$1200.50'],
  ])('%d is %s', (usd, text) => {
    expect(toUsd(usd)).toBe(text)
  })

  test.each([
    [0.01, 0.05, '$0.01–$0.05 per call'],
    [0.01, 0.01, '$0.01 per call'],
    [0, 0, 'free per call'],
    [0, 0.05, '$0–$0.05 per call'],
  ])('%d to %d is %s', (min_usd, max_usd, text) => {
    expect(toPriceText({ ...PER_CALL, min_usd, max_usd })).toBe(text)
  })

  const LOCAL = { kind: 'mcp_server', invoke: [{ kind: 'mcp_package' }] } as const
  test.each([
    [{ cost: 'free' }, 'free'],
    [{ cost: 'freemium' }, 'free to start'],
    [{ cost: 'freemium', auth: { type: 'none' } }, 'free without a key'],
    [{ cost: 'paid', auth: { type: 'none' } }, 'not published'],
    [{ auth: { type: 'none' } }, 'free'],
    [{ auth: { type: 'api_key' } }, 'not published'],
    [LOCAL, 'free to run'],
    [{ ...LOCAL, auth: { type: 'none' } }, 'free to run'],
    [{ ...LOCAL, auth: { type: 'api_key' } }, 'your own account'],
    [{ kind: 'mcp_server', invoke: [{ kind: 'mcp' }, { kind: 'mcp_package' }] }, 'not published'],
  ] as const)('%j without a price costs: %s, and filters and orders agree', (facts, text) => {
    const unknown = { kind: 'http_api', invoke: [], auth: { type: 'unknown' } } as const
    const listing = { ...unknown, pricing: { model: 'unknown' }, ...facts } as const
    expect(toCostText(listing)).toBe(text)
    const isSaidFree = text.startsWith('free') && text !== 'free to start'
    expect(listedPriceOf(listing)).toBe(isSaidFree ? 0 : null)
  })

  test('an unknown price says so', () => {
    expect(toPriceText({ model: 'unknown' })).toBe('not published')
  })
})

describe('payout addresses', () => {
  const EVM = `0x${'aB'.repeat(20)}`
  const BASE58 = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU'
  test.each([`eip155:8453:${EVM}`, `eip155:1:0x${'0'.repeat(40)}`, `${SOLANA}:${BASE58}`])(
    '%s is one',
    (payout) => {
      expect(findFaults(PayoutSchema, payout)).toEqual([])
    },
  )

  test.each([
    EVM,
    `8453:${EVM}`,
    `eip155:8453:${EVM}0`,
    `eip155:8453:${EVM.slice(0, -1)}`,
    `eip155:8453:${EVM.slice(2)}`,
    `eip155:8453:${BASE58}`,
    `${SOLANA}:${EVM}`,
    `eip155:8453:${EVM} `,
    'weather.eth',
  ])('%s is none', (payout) => {
    expect(findFaults(PayoutSchema, payout)).toHaveLength(1)
  })

  test('compare without case on EVM chains, with case on Solana', () => {
    expect(normalizePayout(`eip155:8453:${EVM}`)).toBe(`eip155:8453:${EVM.toLowerCase()}`)
    expect(normalizePayout(`${SOLANA}:${BASE58}`)).toBe(`${SOLANA}:${BASE58}`)
  })
})
