import { isValidRouteTemplate, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar'
import { describe, expect, test } from 'vitest'
import { mergeFinding } from '../../src/domain/probe/merge.ts'
import { judgePayment } from '../../src/domain/probe/x402.ts'
import { type ResourceRow, toResourceRows } from '../../src/domain/protocols/registry-entry.ts'
import type { Evidence } from '../../src/domain/trust/evidence.ts'
import { BASE_URL, toListing } from '../domain/listing-samples.ts'

const URL_REQUESTED = 'https://api.weather.example/now'
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const PAYEE = '0x1111111111111111111111111111111111111111'
const OFFER = {
  scheme: 'exact',
  network: 'eip155:8453',
  asset: USDC,
  amount: '10000',
  payTo: PAYEE,
  maxTimeoutSeconds: 60,
  extra: { name: 'USD Coin', version: '2' },
}

/** What a probe keeps of a 402 with these offers. */
function toEvidence(accepts: object[], version = 2): Evidence {
  const terms = { x402Version: version, accepts }
  const inHeader = Buffer.from(JSON.stringify(terms)).toString('base64')
  const headers = version === 2 ? new Map([['payment-required', [inHeader]]]) : new Map()
  const answer = { status: 402, headers, body: JSON.stringify(terms), cut: null, ms: 1 }
  const operation = { method: 'GET', url: URL_REQUESTED, isGuess: false } as const
  const finding = judgePayment(answer, operation, ['x402'], 0)
  const declared = { operations: [], networks: [], payouts: [] }
  return mergeFinding({}, finding, { declared }, '2026-11-21T00:00:00Z')
}

function rowsOf(evidence: Evidence, facts: object = {}): ResourceRow[] {
  return toResourceRows([toListing({ evidence, facts: { ...facts } })], BASE_URL)
}

describe('what payers may sign', () => {
  test('is what the seller’s own 402 asked of our probe, whole', () => {
    const [row] = rowsOf(toEvidence([OFFER]))
    expect(row?.entry).toMatchObject({ accepts: [OFFER], lastUpdated: '2026-11-21T00:00:00Z' })
  })

  test('has the names of version 2 where the 402 is of version 1', () => {
    const { amount, ...offer } = OFFER
    const former = { ...offer, network: 'base', maxAmountRequired: amount }
    expect(rowsOf(toEvidence([former], 1))[0]?.entry.accepts).toEqual([OFFER])
  })

  test.each([
    ['no payee', { payTo: '' }],
    ['no time limit', { maxTimeoutSeconds: undefined }],
    ['a network nobody knows by this name', { network: 'moon' }],
    ['an amount that is not a whole number', { amount: '0.01' }],
    ['members that we do not keep', { extra: { domain: { name: 'USD Coin' } } }],
  ])('holds no offer with %s', (_, change) => {
    const evidence = toEvidence([
      { ...OFFER, ...change },
      { ...OFFER, amount: '20000' },
    ])
    expect(rowsOf(evidence)[0]?.entry.accepts).toEqual([{ ...OFFER, amount: '20000' }])
  })

  test('is nothing where no probe has asked, or the seller names another payee each time', () => {
    const evidence = toEvidence([OFFER])
    const note = { id: 'payout_rotating', note: 'Another each time.', at: '2026-11-21T00:00:00Z' }
    const rotating = { ...evidence, notices: [note] } as Evidence
    expect([rowsOf({}), rowsOf(rotating)].map(([row]) => row?.entry.accepts)).toEqual([[], []])
  })
})

describe('what filters know', () => {
  test('is published and asked alike: network, payee and scheme', () => {
    const polygon = { ...OFFER, network: 'eip155:137', scheme: 'upto' }
    expect(rowsOf(toEvidence([polygon]))[0]).toMatchObject({
      networks: ['eip155:8453', 'eip155:137'],
      schemes: ['upto'],
      payouts: [`eip155:137:${PAYEE}`],
    })
  })
})

describe('a resource', () => {
  const http = [
    {
      method: 'GET',
      url: 'https://api.weather.example/users/{user_id}/days/{day}',
      params: [
        { name: 'user_id', in: 'path', required: true, example: 'mia' },
        { name: 'day', in: 'path', required: true },
        { name: 'units', in: 'query', example: 'metric' },
      ],
    },
    { method: 'POST', url: 'https://api.weather.example/ask', body: { example: { q: 'rain' } } },
    { method: 'DELETE', url: 'https://api.weather.example/ask', body: { example: { q: 'rain' } } },
  ]
  const entries = rowsOf({}, { http }).map(({ entry }) => entry)

  test('is a URI, with the route as the extension writes it', () => {
    const [first] = entries
    expect(first?.resource).toBe('https://api.weather.example/users/:user_id/days/:day')
    expect(first?.extensions).toMatchObject({
      bazaar: {
        routeTemplate: '/users/:user_id/days/:day',
        info: { input: { pathParams: { user_id: 'mia' }, queryParams: { units: 'metric' } } },
      },
    })
  })

  test('says what it takes in the extension’s own form', () => {
    for (const { extensions } of entries) {
      const { bazaar } = extensions as {
        bazaar: Parameters<typeof validateDiscoveryExtensionSpec>[0]
      }
      expect(validateDiscoveryExtensionSpec(bazaar)).toEqual({ valid: true })
      const { routeTemplate } = bazaar
      expect(routeTemplate === undefined || isValidRouteTemplate(String(routeTemplate))).toBe(true)
    }
    expect(entries).toHaveLength(3)
  })

  test('is an HTTP operation: no other kind of listing has any', () => {
    const server = {
      kind: 'mcp_server',
      invoke: [{ kind: 'mcp', transport: 'streamable-http', url: 'https://m.weather.example/mcp' }],
    }
    expect(rowsOf({}, server)).toEqual([])
    expect(rowsOf({}, { pricing: { model: 'unknown' } })).toEqual([])
  })
})
