import { text as readText } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { probeHandshake } from '../../functions/probes/handshake.ts'
import { toCallRows } from '../../src/components/calls/call-rows.ts'
import { toOperationEntries } from '../../src/domain/kit/found-operations.ts'
import { mergeFinding } from '../../src/domain/probe/merge.ts'
import { BASE_URL, toKit, toListing } from '../domain/listing-samples.ts'
import { NOTHING_DECLARED, OFFER, openClient, openSite } from './probe-world.ts'

const TERMS = { x402Version: 2, accepts: [OFFER] }
const SOLD = {
  price: { min_usd: 0.01, max_usd: 0.01, per: 'call' },
  offers: [{ rail: 'x402', network: 'eip155:8453', min_usd: 0.01, max_usd: 0.01 }],
}
const READS = { annotations: { readOnlyHint: true } }

/** A server with one tool. @param answer what an unpaid call of it gets */
async function look(tool: object, answer: object = {}, isPaid = false) {
  const called: unknown[] = []
  const site = await openSite(async (req, res) => {
    const text = await readText(req)
    const { id, method, params } = JSON.parse(text || '{}')
    if (method === 'tools/call') called.push(params)
    const listed = { name: 'find_ship', description: 'Finds a ship.', inputSchema: {}, ...tool }
    const answers: Record<string, object> = {
      initialize: {
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'harbour', version: '1' },
        },
      },
      'tools/list': { result: { tools: [listed] } },
      'tools/call': answer,
    }
    const stated = answers[method] ?? { error: { code: -32_601, message: 'unknown' } }
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ jsonrpc: '2.0', id, ...stated }))
  })
  const handshake = {
    ...{ kind: 'mcp' as const, url: `${site.url}/mcp` },
    ...(isPaid && { is_paid: true as const }),
  }
  const finding = await probeHandshake(handshake, openClient(), Date.now)
  const plan = { id: 'mcp.harbour', handshake, declared: NOTHING_DECLARED }
  const { interface: read } = mergeFinding({}, finding, plan, '2026-11-26T12:00:00Z')
  return { called, finding, read, tool: read?.tools?.[0] }
}

describe('a tool with a price', () => {
  test.each([
    ['in dollars', { 'agents-x402/paymentRequired': true, 'agents-x402/priceUSD': 0.01 }],
    ['as a text', { 'agents-x402/priceUSD': '0.01' }],
    ['as a document has it', { 'x-payment-info': { price: '$0.01', protocols: ['x402'] } }],
  ])('is listed with it, stated %s in _meta', async (_name, _meta) => {
    const { tool, called } = await look({ _meta })
    expect(tool).toMatchObject({ price: SOLD.price, offers: [{ rail: 'x402', max_usd: 0.01 }] })
    expect(called).toEqual([])
  })

  test('is listed with the networks of terms in _meta', async () => {
    expect((await look({ _meta: { 'x402/payment-required': TERMS } })).tool).toMatchObject(SOLD)
  })

  test.each([
    ['an error -32042', { error: { code: -32_042, message: 'Payment required', data: TERMS } }],
    ['an error 402', { error: { code: 402, message: 'Payment required', data: TERMS } }],
    ['structured content', { result: { isError: true, content: [], structuredContent: TERMS } }],
    [
      'a text',
      { result: { isError: true, content: [{ type: 'text', text: JSON.stringify(TERMS) }] } },
    ],
  ])('is asked for its terms where it only reads; they come as %s', async (_name, answer) => {
    const { tool, called, read } = await look({ ...READS }, answer, true)
    expect(tool).toMatchObject(SOLD)
    expect(called).toEqual([{ name: 'find_ship', arguments: {} }])
    expect(read?.payouts).toMatchObject([{ network: 'eip155:8453' }])
  })

  test('may ask for a charge of MPP', async () => {
    const request = { amount: '10000', currency: OFFER.asset, recipient: OFFER.payTo }
    const challenge = {
      ...{ id: '1', realm: 'harbour.example', method: 'evm', intent: 'charge' },
      request: { ...request, methodDetails: { chainId: 8453 } },
    }
    const answer = { error: { code: -32_042, message: 'Pay', data: { challenges: [challenge] } } }
    const { tool } = await look({ ...READS, _meta: { 'mpp/paymentRequired': true } }, answer)
    expect(tool?.offers).toEqual([{ ...SOLD.offers[0], rail: 'mpp' }])
  })

  test('is not called where it may change something, or where nobody says that it is paid', async () => {
    const answer = { error: { code: -32_042, message: 'Payment required', data: TERMS } }
    expect((await look({}, answer, true)).called).toEqual([])
    expect((await look({ ...READS }, answer)).called).toEqual([])
  })

  test('is shown with its price on the page and in searches, and the kit says how it is paid', async () => {
    const { read } = await look({ _meta: { 'x402/payment-required': TERMS } })
    const listing = toListing({
      id: 'mcp.harbour',
      facts: { kind: 'mcp_server', pricing: { model: 'unknown' } },
      evidence: read === undefined ? {} : { interface: read },
    })
    expect(listing.facts.pricing).toMatchObject({ model: 'per_call', rails: ['x402'] })
    const kit = toKit(listing)
    expect(kit.payment).toMatchObject({
      request_headers: [],
      over_mcp: { request_meta: ['x402/payment'], how: expect.stringContaining('call_listing') },
    })
    expect(toCallRows(kit)?.rows).toMatchObject([{ name: 'find_ship', price: '$0.01' }])
    const [entry] = toOperationEntries(listing, BASE_URL)
    expect(entry).toMatchObject({
      minUsd: 0.01,
      rails: ['x402'],
      found: { operation: { price: SOLD.price } },
    })
  })
})
