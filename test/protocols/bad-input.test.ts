import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { findToolHeaderFault } from '../../functions/protocols/mcp-call-tool.ts'
import { serveFixture } from '../support/running-service.ts'

const running = serveFixture()

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1.0.0' },
}

/** A request of the current revision, as bytes on the wire; headers may be made to disagree. */
async function current(method: string, params: object, headers: Record<string, string> = {}) {
  return post(
    '/mcp',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta: META, ...params } }),
    {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...headers,
    },
  )
}

async function post(path: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${running.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  })
  return { status: response.status, text: await response.text() }
}

const tool = (name: string, args: object) => ({ name, arguments: args })
const former = (method: string, params: object) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const search = tool('search_listings', {})
const named = { 'mcp-name': 'search_listings' }

describe('the current revision of MCP refuses in its own words', () => {
  test.each([
    ['headers that name another tool', search, { 'mcp-name': 'get_kit' }, 400, -32020],
    ['a missing header', search, {}, 400, -32020],
    ['an unknown tool', tool('nope', {}), { 'mcp-name': 'nope' }, 200, -32602],
  ])('%s', async (_, params, headers, status, code) => {
    const answer = await current('tools/call', params, headers)
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([status, code])
  })

  test('a revision nobody knows, with those it speaks', async () => {
    const _meta = { ...META, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' }
    const version = { ...named, 'mcp-protocol-version': '2031-01-01' }
    const { status, text } = await current('tools/call', { ...search, _meta }, version)
    expect(status).toBe(400)
    expect(JSON.parse(text).error).toMatchObject({
      code: -32022,
      data: { supported: ['2026-07-28'], requested: '2031-01-01' },
    })
  })

  test('an unknown method, a batch, and what is not a message', async () => {
    const unknown = await current('tools/eat', {})
    expect([unknown.status, JSON.parse(unknown.text).error.code]).toEqual([404, -32601])
    const one = former('tools/call', { ...search, _meta: META })
    for (const body of [`[${one},${one}]`, '[]', '[1,"x",null]', 'null', '7']) {
      const { status, text } = await post('/mcp', body, { 'mcp-protocol-version': '2026-07-28' })
      expect([body, status, JSON.parse(text).error.code]).toEqual([body, 400, -32600])
    }
  })

  test('a cursor that was never given out, at every list', async () => {
    for (const method of [
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
    ]) {
      const params = { cursor: 'garbage' }
      for (const { status, text } of [
        await current(method, params),
        await post('/mcp', former(method, params)),
      ])
        expect([status, JSON.parse(text)]).toMatchObject([200, { id: 1, error: { code: -32602 } }])
    }
  })

  test('no subscription holds a connection: each is acknowledged, and over', async () => {
    const notifications = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['directory://listing/x402.weather'],
    }
    // `post` reads every answer to its end: one that stayed open would never return.
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => current('subscriptions/listen', { notifications })),
    )
    for (const { status, text } of answers) {
      expect(status).toBe(200)
      expect(text).toContain('notifications/subscriptions/acknowledged')
      expect(text).toContain('"resultType":"complete"')
    }
  })

  test('notifications without end are taken and kept nowhere', async () => {
    const note = JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1, _meta: META },
    })
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'notifications/cancelled',
    }
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => post('/mcp', note, headers)),
    )
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['202 ']),
    )
    expect((await current('tools/call', search, named)).status).toBe(200)
  })
})

describe('MCP', () => {
  test('a name of another that leads to this machine is refused, whatever the page says', async () => {
    const status = await new Promise((resolve, reject) => {
      const { port } = new URL(running.url)
      const headers = {
        host: `rebound.example:${port}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }
      const sent = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers })
      sent.on('error', reject).on('response', (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      sent.end(former('tools/call', search))
    })
    expect(status).toBe(403)
  })

  test.each([
    'directory://listing/mcp.nope',
    'directory://listing/%E0%A4%A',
    'directory://listing/..%2f..%2fetc',
    'file:///etc/passwd',
  ])('no resource stands at %s', async (uri) => {
    const { status, text } = await post('/mcp', former('resources/read', { uri }))
    expect([status, text]).toEqual([200, expect.stringMatching(/-3260[02]/)])
    expect(text).toContain('not found')
  })

  test.each([
    [{ 'x-key': 'a\r\nhost: b' }, /x-key: expected one line/],
    [{ 'bad name': 'a' }, /bad name.* is not the name of a header field/],
    [{ 'X-Forwarded-For': '198.51.100.1' }, /X-Forwarded-For: the relay sets/],
    [{ 'Content-Length': '1' }, /Content-Length: the relay sets/],
  ])('a call cannot bring the header fields %j', async (headers, expected) => {
    const args = tool('call_listing', { id: 'x402.weather', headers })
    const { text } = await post('/mcp', former('tools/call', args))
    expect(text).toMatch(/"isError":true/)
    expect(text).toMatch(expected)
  })

  test('what a call may bring is let through', () => {
    expect(findToolHeaderFault({ Authorization: 'Bearer é', 'x-api-key': '' })).toBeNull()
  })
})

describe('nesting without end is refused before anything walks it', () => {
  test.each([
    [
      '/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_listing","arguments":{"id":"x402.weather","body":${nested(50_000)}}}}`,
      /-32600/,
    ],
    [
      '/a2a',
      `{"jsonrpc":"2.0","id":1,"method":"message/send","params":${nested(10_000)}}`,
      /-32600/,
    ],
    ['/ard/search', `{"query":${nested(5000)}}`, /INVALID_ARGUMENT/],
  ])('%s', async (path, body, expected) => {
    const { status, text } = await post(path, body)
    expect([status, text]).toEqual([400, expect.stringMatching(expected)])
  })

  test('and brackets inside of a text are none', async () => {
    const query = `${'['.repeat(300)} \\" {{`
    const { text } = await post('/mcp', former('tools/call', tool('search_listings', { query })))
    expect(text).not.toMatch(/nested/)
    expect(text).toMatch(/"total"/)
  })
})

describe('A2A refuses in its own words', () => {
  const message = (parts: unknown) => ({
    message: { kind: 'message', messageId: 'm', role: 'user', parts },
  })
  const PUSH = { taskId: 'x', pushNotificationConfig: { url: 'https://a.example/hook' } }
  test.each([
    ['a batch', `[${former('message/send', message([{ kind: 'text', text: 'x' }]))}]`, -32600],
    ['another JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"message/send"}', -3260],
    ['a push configuration', former('tasks/pushNotificationConfig/set', PUSH), -3200],
    ['parts of a wrong type', former('message/send', message('weather')), -3260],
  ])('%s', async (_, body, code) => {
    const { status, text } = await post('/a2a', body)
    expect(status).toBeLessThan(500)
    expect(String(JSON.parse(text).error.code)).toContain(String(code))
  })

  test('a message of more than 64 KiB', async () => {
    const text = 'x'.repeat(70_000)
    const answer = await post('/a2a', former('message/send', message([{ kind: 'text', text }])))
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([413, -32600])
  })
})
