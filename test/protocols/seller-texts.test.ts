import { expect, test } from 'vitest'
import { SELLER_TEXTS } from '../../src/domain/wire/shapes.ts'
import { serveFixture } from '../support/running-service.ts'

const running = serveFixture()

test.each([
  '/api/v1/listings/x402.weather',
  '/api/v1/listings/x402.weather/kit.json',
  '/api/v1/listings/x402.weather/kit.json?view=compact',
  '/api/v1/operations?q=weather',
])('%s says whose words stand in it', async (path) => {
  const response = await fetch(`${running.url}${path}`)
  expect(await response.json()).toMatchObject({ texts: SELLER_TEXTS })
})

test.each([
  ['search_listings', { q: 'weather' }],
  ['find_operations', { q: 'weather' }],
  ['get_listing', { id: 'x402.weather' }],
  ['get_kit', { id: 'x402.weather' }],
  ['compare_listings', { ids: ['x402.weather', 'mcp.tenki'] }],
])('so does %s', async (name, args) => {
  const response = await fetch(`${running.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    }),
  })
  const { result } = await response.json()
  expect(result.structuredContent).toMatchObject({ texts: SELLER_TEXTS })
  expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent)
})

test('so does a message to the A2A agent', async () => {
  const message = { kind: 'message', messageId: 'm', role: 'user', parts: [] }
  const parts = [{ kind: 'text', text: 'weather' }]
  const response = await fetch(`${running.url}/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: { message: { ...message, parts } },
    }),
  })
  const { result } = await response.json()
  expect(result.parts).toMatchObject([
    { data: { texts: SELLER_TEXTS } },
    { text: expect.stringContaining(SELLER_TEXTS) },
  ])
})
