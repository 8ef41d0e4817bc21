import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { serveFixture } from '../support/running-service.ts'

const running = serveFixture()

async function read(path: string, body?: unknown) {
  const response = await fetch(`${running.url}${path}`, {
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  return response.json()
}

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)

/** What each protocol finds for a text and a kind, as ids in its own order. */
const PROTOCOL_ENDPOINTS: Record<string, (q: string, kind: string) => Promise<string[]>> = {
  api: async (q, kind) => idsOf((await read(`/api/v1/search?${query({ q, kind })}`)).results),
  'api, compact': async (q, kind) =>
    idsOf((await read(`/api/v1/search?${query({ q, kind, view: 'compact' })}`)).results),
  mcp: async (q, kind) => {
    const client = new Client({ name: 'tester', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${running.url}/mcp`)))
    const found = await client.callTool({
      name: 'search_listings',
      arguments: { query: q, kind, limit: 20 },
    })
    await client.close()
    return idsOf(Object(found.structuredContent).results)
  },
  a2a: async (q, kind) => {
    const parts = [
      { kind: 'text', text: q },
      { kind: 'data', data: { kind, limit: 20 } },
    ]
    const message = { kind: 'message', messageId: 'm1', role: 'user', parts }
    const rpc = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }
    return idsOf((await read('/a2a', rpc)).result.parts[0].data.results)
  },
  ard: async (q, kind) => {
    const requested = { query: { text: q, filter: { kind } }, pageSize: 20 }
    const { results } = await read('/ard/search', requested)
    return results.map(({ identifier }: { identifier: string }) => identifier.split(':').at(-1))
  },
}

const query = (parameters: Record<string, string>) => new URLSearchParams(parameters)

describe('one service behind every protocol', () => {
  test.each([
    ['weather', 'http_api'],
    ['weather', 'mcp_server'],
    ['', 'http_api'],
    ['tide tables and harbours', 'mcp_server'],
    ['no such thing anywhere', 'http_api'],
  ])('%j among %s: the same ids in the same order', async (q, kind) => {
    const found = Object.entries(PROTOCOL_ENDPOINTS).map(async ([name, find]) => [
      name,
      await find(q, kind),
    ])
    const byEndpoint = Object.fromEntries(await Promise.all(found))
    const { api, ...others } = byEndpoint
    for (const [name, ids] of Object.entries(others)) expect([name, ids]).toEqual([name, api])
    if (q === 'weather') expect(api.length).toBeGreaterThan(0)
  })

  test('x402 discovery keeps that order, an operation a row', async () => {
    const { resources } = await read('/discovery/search?query=weather&limit=100')
    const rows: string[] = resources.map(
      (row: { extensions: { directory: { listing_id: string } } }) =>
        row.extensions.directory.listing_id,
    )
    const ids = await PROTOCOL_ENDPOINTS.api?.('weather', 'http_api')
    expect(rows.length).toBeGreaterThan(0)
    expect(ids?.filter((id) => rows.includes(id))).toEqual([...new Set(rows)])
  })
})

test('what a protocol shows counts as its own: HTTP ones as api', async () => {
  const { ledger } = running.service.parts
  const read = async () => {
    await ledger.usage.flush()
    const rows = await ledger.store.db
      .selectFrom('usage_day')
      .select(['src', 'uses'])
      .where('listing_id', '=', 'x402.weather')
      .where('kind', '=', 'impression')
      .execute()
    return Object.fromEntries(rows.map(({ src, uses }) => [src, uses]))
  }
  const expected: Record<string, string> = { api: 'api', mcp: 'mcp', a2a: 'a2a', ard: 'api' }
  for (const [endpoint, src] of Object.entries(expected)) {
    const before = await read()
    await PROTOCOL_ENDPOINTS[endpoint]?.('weather', 'http_api')
    const after = await read()
    const counted = Object.keys(after).filter((name) => after[name] !== before[name])
    expect([endpoint, counted]).toEqual([endpoint, [src]])
  }
})
