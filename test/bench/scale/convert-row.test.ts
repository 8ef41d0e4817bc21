import { describe, expect, test } from 'vitest'
import { parseFrontMatter } from '../../../src/content/listing-file.ts'
import { convertRow } from './convert-row.ts'
import { priceOfAccept } from './price-of-accepts.ts'

const CATEGORIES = new Set(['geo_weather', 'developer_tools'])
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const BSC_USDC = '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d'
const PAID = {
  kind: 'http_api',
  name: 'Weather now',
  description: 'Current **weather** for a place.',
  url: 'https://api.weather.dev/now',
  method: 'GET',
  rails: ['x402'],
  networks: ['eip155:8453'],
  price: { model: 'per_call', min_usd: 0.01, max_usd: 0.02 },
  updated: '2026-05-06T00:00:00Z',
  sources: [{ source: 'some_list', ref: 'https://github.com/list README.md' }],
}

describe('a row of the scale data as a content file', () => {
  test('carries its facts in front matter and its description whole', () => {
    const result = convertRow(PAID, CATEGORIES)
    if (!result.ok) throw new Error(result.refusal.detail)
    expect(result.file).toMatch(/^listings\/x402\/weather-now-[0-9a-f]{10}\.md$/)
    expect(parseFrontMatter(result.text)).toMatchObject({
      ok: true,
      body: 'Current **weather** for a place.',
      data: {
        name: 'Weather now',
        summary: 'Current weather for a place.',
        categories: ['geo_weather'],
        pricing: {
          model: 'per_call',
          min_usd: 0.01,
          max_usd: 0.02,
          rails: ['x402'],
          networks: ['eip155:8453'],
        },
        http: [{ method: 'GET', url: 'https://api.weather.dev/now' }],
        sources: [{ source: 'some_list', ref: 'https://github.com/list' }],
        added: '2026-05-06',
      },
    })
  })

  test.each([
    ['no_name', { name: ' ' }],
    ['no_url', { url: '' }],
    ['template_url', { url: 'https://api.weather.dev/:place' }],
    ['tunnel_host', { url: 'https://x.trycloudflare.com/' }],
    ['test_network', { networks: ['eip155:84532'] }],
    ['unsupported_network', { networks: ['stellar:pubnet'] }],
    [
      'unsupported_price',
      { accepts: [{ network: 'eip155:8453', asset: USDC, scheme: 'upto', amount: '1' }] },
    ],
    ['unsupported_price', { rails: ['other'] }],
    ['misleading_text', { name: 'P\u0430yPal' }],
    ['invalid_row', { kind: 'kit' }],
    ['invalid_listing', { price: { model: 'per_call', min_usd: 2, max_usd: 1 } }],
  ])('%s: %j', (reason, change) => {
    expect(convertRow({ ...PAID, ...change }, CATEGORIES)).toMatchObject({
      ok: false,
      refusal: { reason },
    })
  })
})

describe('the price of a payment', () => {
  test.each([
    ['eip155:8453', USDC, 'exact', '10000', 0.01],
    ['eip155:8453', USDC.toLowerCase(), 'exact', '1', 0.000001],
    ['eip155:56', BSC_USDC, 'exact', '10000000000000000', 0.01],
    ['eip155:8453', USDC, 'upto', '10000', null],
    ['eip155:84532', '0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'exact', '10000', null],
    ['eip155:8453', '0x0000000000000000000000000000000000000001', 'exact', '10000', null],
    ['eip155:8453', USDC, 'exact', '0.01', null],
    ['eip155:8453', USDC, 'exact', '-1', null],
    ['xrpl:0', 'XRP', 'exact', '15000', null],
  ])('%s %s %s %s is %s USD', (network, asset, scheme, amount, usd) => {
    expect(priceOfAccept({ network, asset, scheme, amount })).toBe(usd)
  })
})
