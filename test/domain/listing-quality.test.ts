import { expect, test } from 'vitest'
import { toSurface } from '../../src/domain/derived/surface.ts'
import type { Evidence } from '../../src/domain/trust/evidence.ts'
import { countQuality } from '../../src/domain/views/reference-views.ts'
import { SAMPLE_FACTS, toFacts } from './listing-samples.ts'

const url = 'https://api.harbour.example/ships'
const PAID = { model: 'per_call', min_usd: 0.1, max_usd: 0.1, rails: ['x402'], networks: [] }
const body = { content_type: 'application/json', schema: { type: 'object' }, example: {} }

const toJudged = (facts: ReturnType<typeof toFacts>, evidence: Evidence) => ({
  ...{ facts, evidence },
  surface: toSurface(facts, evidence.interface, { allowPrivate: true }),
})

test.each([
  ['a price', { pricing: PAID }, 'price', true],
  ['no price', { pricing: { model: 'unknown' } }, 'price', false],
  ['a price without a payee', { pricing: PAID }, 'payout', false],
  ['nothing to pay', { pricing: { model: 'unknown' } }, 'payout', undefined],
  ['a POST with schema and example', { http: [{ method: 'POST', url, body }] }, 'operations', true],
  ['a POST with neither', { http: [{ method: 'POST', url }] }, 'operations', false],
  ['a GET that takes nothing', { http: [{ method: 'GET', url }] }, 'operations', true],
  [
    'an answer that is described',
    { http: [{ method: 'GET', url, response: body }] },
    'response',
    true,
  ],
  ['an answer that is not', { http: [{ method: 'GET', url, response: {} }] }, 'response', false],
  ['no operation', { http: [] }, 'operations', false],
  ['a guess', { http: [{ method: 'GET', url, assumed: ['method'] }] }, 'no_guess', false],
  ['nothing to guess', { http: [] }, 'no_guess', undefined],
  ['a key and no page for it', { auth: { type: 'api_key' } }, 'auth_docs', false],
  ['a key and its page', { auth: { type: 'api_key', docs: url } }, 'auth_docs', true],
  ['no key', { auth: { type: 'none' } }, 'auth_docs', undefined],
  ['no tools, as an API', {}, 'tools', undefined],
] as const)('%s is judged', (_, more, name, expected) => {
  const facts = toFacts({ ...SAMPLE_FACTS, payout: [], ...more })
  const [counted] = countQuality([toJudged(facts, {})])
  const count = expected === undefined ? undefined : { has: Number(expected), of: 1 }
  expect(counted?.have[name]).toEqual(count)
})

test('what a machine saw counts as well', () => {
  const facts = toFacts({
    ...{ ...SAMPLE_FACTS, kind: 'mcp_server', url, http: [], payout: [] },
    ...{ pricing: { model: 'unknown' }, auth: { type: 'none' } },
  })
  const tools = [{ name: 'dock', description: 'Docks.', input_schema: {} }]
  const rich: Evidence = { interface: { at: '2026-11-22T12:00:00Z', from: 'mcp', tools } }
  const judged = [toJudged(facts, rich), toJudged(facts, {})]
  expect(countQuality(judged)).toEqual([
    {
      kind: 'mcp_server',
      listings: 2,
      have: { tools: { has: 1, of: 2 }, evidence: { has: 1, of: 2 } },
    },
  ])
})
