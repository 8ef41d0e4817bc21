import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FormerTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { serveFixture, startService } from '../support/running-service.ts'

const running = serveFixture()

const address = () => new URL(`${running.url}/mcp`)

/** Revisions the official client is pinned to: left alone, it speaks the former one. */
const REVISIONS = ['2026-07-28', '2025-11-25'] as const

async function withClient<Result>(
  work: (client: Client) => Promise<Result>,
  revision: (typeof REVISIONS)[number] = '2026-07-28',
): Promise<Result> {
  const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy'
  const client = new Client({ name: 'tester', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(address()))
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** One message as bytes on the wire, without a client's help. */
async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(address(), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const call = (name: string, args: unknown, id: number | string = 1, _meta?: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, ...(_meta && { _meta }) },
})

/** Each tool as it is asked, asked for what there is not, and asked wrongly. */
const CALLS = [
  call('search_listings', { query: 'weather' }),
  call('search_listings', { query: 'weather', with_kit: true, limit: 1 }, 'ä "1"'),
  call('search_listings', { category: 'none-such' }),
  call('search_listings', { query: 5 }),
  call('search_listings', undefined),
  call('find_operations', { query: 'forecast' }),
  call('get_listing', { id: 'x402.weather' }),
  call('get_listing', { id: 'x402.nope' }),
  call('get_kit', { id: 'x402.weather', operation: 'none such' }),
  call('compare_listings', { ids: ['x402.weather', 'x402.nope'] }),
  call('list_facets', {}, -3),
  call('call_listing', { id: 'x402.weather', expect: { digest: 'another' } }),
  call('call_listing', { id: 'x402.nope' }),
  call('no_such_tool', {}),
]
const CLAIM = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** The answer's message, out of its stream where it came in one. */
async function postFor(message: unknown, headers: Record<string, string>) {
  const { status, headers: fields, text } = await post(message, headers)
  const isStream = fields.get('content-type')?.startsWith('text/event-stream') === true
  const json = isStream ? /^data: (.*)$/m.exec(text)?.[1] : text
  // Each search has an id of its own.
  return { status, isStream, json: json?.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '') }
}

describe('a plain call', () => {
  describe.each([
    ['no revision', {}, {}],
    ['a former revision', {}, { 'mcp-protocol-version': '2025-06-18' }],
    ['a progress token', { progressToken: 'p' }, {}],
    ['the newest revision', CLAIM, { 'mcp-protocol-version': '2026-07-28' }],
  ])('with %s', (name, meta, revision) => {
    test.each(CALLS)('is answered as by the package, byte for byte: $params', async (message) => {
      const params = { ...message.params, ...(name !== 'no revision' && { _meta: meta }) }
      const headers = { 'mcp-method': 'tools/call', 'mcp-name': params.name, ...revision }
      const mine = await postFor({ ...message, params }, headers)
      // A member that no revision knows is left to the package.
      const theirs = await postFor({ ...message, params: { ...params, aside: true } }, headers)
      expect(mine.json).toBe(theirs.json)
      expect(mine.status).toBe(theirs.status)
      const isWrong = /"error":|Input validation/.test(mine.json ?? '')
      expect(mine.isStream && !isWrong).toBe(false)
    })
  })

  test('several count alike: each caller gets its own answer', async () => {
    const requested = ['weather', 'zzzqqq', 'search'].map((query) =>
      call('search_listings', { query }, 7),
    )
    const alone = await Promise.all(requested.map((message) => post([message])))
    const answers = await Promise.all(requested.map((message) => post(message)))
    answers.forEach(({ text }, at) => {
      const { id, result } = JSON.parse(text)
      expect(id).toBe(7)
      expect(alone[at]?.text).toContain(JSON.stringify(result.structuredContent))
    })
  })

  const newest = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' }
  test.each([
    ['a client that takes no stream', call('list_facets', {}), { accept: 'application/json' }],
    ['a revision in the field alone', call('list_facets', {}), newest],
    [
      'a client without a name',
      call('list_facets', {}, 1, { ...CLAIM, 'io.modelcontextprotocol/clientInfo': 1 }),
      { ...newest, 'mcp-name': 'list_facets' },
    ],
  ])('%s is refused as ever', async (_, message, headers) => {
    expect((await post(message, headers)).status).toBeGreaterThanOrEqual(400)
  })
})

describe.each(REVISIONS)('the MCP server, to the official client of revision %s', (revision) => {
  const withOne = <Result>(work: (client: Client) => Promise<Result>) => withClient(work, revision)

  test('speaks that revision', async () => {
    expect(await withOne(async (client) => client.getNegotiatedProtocolVersion())).toBe(revision)
  })

  test('has tools with titles, hints, and schemas of what goes in and comes out', async () => {
    const { tools } = await withOne((client) => client.listTools())
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'search_listings',
        'get_listing',
        'get_kit',
        'compare_listings',
        'list_facets',
        'call_listing',
      ]),
    )
    for (const tool of tools) {
      expect(tool.title, tool.name).toBeTruthy()
      expect(tool.description, tool.name).toBeTruthy()
      expect(tool.inputSchema.additionalProperties, tool.name).toBe(false)
      expect(tool.annotations?.readOnlyHint, tool.name).toBe(tool.name !== 'call_listing')
      if (tool.name !== 'call_listing') expect(tool.outputSchema, tool.name).toBeTruthy()
    }
  })

  test('says how a payment goes before anybody pays', async () => {
    const instructions = await withOne(async (client) => client.getInstructions())
    expect(instructions).toMatch(/402/)
    expect(instructions).toMatch(/sign with your own wallet/)
    expect(instructions).toMatch(/data, never instructions/)
  })

  test('finds listings, structured and as the same text', async () => {
    const found = await withOne((client) =>
      client.callTool({ name: 'search_listings', arguments: { query: 'weather' } }),
    )
    const [block] = found.content
    expect(block?.type === 'text' && JSON.parse(block.text)).toEqual(found.structuredContent)
    expect(found.structuredContent).toMatchObject({ results: [{ id: 'x402.weather' }, {}, {}] })
  })

  test('reads a listing, as a tool and as a resource', async () => {
    await withOne(async (client) => {
      const tool = await client.callTool({ name: 'get_listing', arguments: { id: 'x402.weather' } })
      const read = await client.readResource({ uri: 'directory://listing/x402.weather' })
      const [content] = read.contents
      expect(tool.structuredContent).toMatchObject({ id: 'x402.weather', trust: { score: 38 } })
      expect(
        content !== undefined && 'text' in content && JSON.parse(String(content.text)),
      ).toEqual(tool.structuredContent)
    })
  })

  test('a search gives the first result’s compact kit where it is asked for, so that one request is enough', async () => {
    const ask = (more: object) =>
      withClient((client) =>
        client.callTool({ name: 'search_listings', arguments: { query: 'weather', ...more } }),
      )
    const { results, kit } = v.parse(
      v.object({ results: v.array(v.object({ id: v.string() })), kit: v.unknown() }),
      (await ask({ with_kit: true })).structuredContent,
    )
    const [first] = results
    // The operation that answers the words, not the one most callers want.
    const found = await fetch(`${running.url}/api/v1/operations?q=weather&limit=20`)
    const { results: operations } = await found.json()
    const { operation } = operations.find(
      ({ listing }: { listing: { id: string } }) => listing.id === first?.id,
    )
    const query = new URLSearchParams({
      view: 'compact',
      operation: `${operation.method} ${operation.url}`,
    })
    const answer = await fetch(`${running.url}/api/v1/listings/${first?.id}/kit.json?${query}`)
    expect(kit).toEqual(await answer.json())
    expect((await ask({})).structuredContent).not.toHaveProperty('kit')
  })

  test('an id nobody has is said to be none, with what would be right', async () => {
    const answer = await withOne((client) =>
      client.callTool({ name: 'get_listing', arguments: { id: '../../etc/passwd' } }),
    )
    expect(answer.isError).toBe(true)
    expect(JSON.stringify(answer.content)).toMatch(/No listing has this id\. Ids look like/)
  })

  test('lists the values that filters take', async () => {
    const answer = await withOne((client) => client.callTool({ name: 'list_facets' }))
    expect(answer.structuredContent).toMatchObject({
      kinds: expect.arrayContaining([{ id: 'mcp_server', count: 3 }]),
    })
  })

  test('has a prompt that finds, prices, asks, and calls', async () => {
    const prompt = await withOne((client) =>
      client.getPrompt({ name: 'find_and_call', arguments: { task: 'rain in Lima' } }),
    )
    expect(JSON.stringify(prompt.messages)).toMatch(/rain in Lima/)
  })
})

test('the client of the former package finds the same', async () => {
  const client = new FormerClient({ name: 'former', version: '1.0.0' })
  await client.connect(new FormerTransport(address()))
  const found = await client.callTool({
    name: 'search_listings',
    arguments: { query: 'weather', limit: 2 },
  })
  expect(found.structuredContent).toMatchObject({ results: [{ id: 'x402.weather' }, {}] })
  await client.close()
})

describe('bad input to the MCP server', () => {
  test.each([
    ['search_listings', { max_price: 1 }, /unknown argument; did you mean max_price_usd\?/],
    ['find_operations', { zzz: 1 }, /unknown argument\. The arguments are query, kind,/],
    ['get_kit', {}, /The argument id is missing\./],
    ['find_operations', { query: 'x', network: 'moon' }, /network: /],
    ['get_kit', { id: 'x402.weather', operation: 99 }, /Unknown operation 99: .*counted from 0\./],
    ['get_kit', { id: 'x402.weather', snippet: 'cobol' }, /Unknown snippet .*expected one of curl/],
    ['plan_task', { task: 'web_serch', input: {} }, /did you mean web_search\?/],
    ['plan_task', { task: 'web_search', input: {} }, /query: the task requires it/],
    ['list_facets', { q: 'a' }, /unknown argument\. The arguments are none\./],
  ])('%s %j is told which argument would be right', async (name, args, message) => {
    const { text } = await post(call(name, args))
    expect(text).toMatch(message)
    expect(text).not.toMatch(/never|received/)
  })

  test.each([
    ['get_kit', { id: 'x402.weather', operation: 1, snippet: 'curl' }, /"snippet":"[^"]*forecast/],
    ['plan_task', { task: 'web_search', input: { query: 'a', max_results: 3 } }, /"total":0,/],
  ])('%s %j is right', async (name, args, expected) => {
    expect((await post(call(name, args))).text).toMatch(expected)
  })

  test('an id that nobody has is answered with those near it', async () => {
    for (const name of ['get_listing', 'get_kit', 'call_listing'])
      expect((await post(call(name, { id: 'wether' }))).text).toContain(
        'No listing has this id; did you mean x402.weather?',
      )
    const { text } = await post(call('compare_listings', { ids: ['x402.weather', 'harbour'] }))
    expect(text).toContain('did you mean mcp.harbour?')
  })

  test.each([
    ['get_listing', { id: 'x402.weather' }, { listing_id: 'x402.weather' }],
    ['get_kit', { id: 'x402.weather' }, { listing_id: 'x402.weather' }],
    ['search_listings', { query: 'weather' }, { q: 'weather' }],
    ['find_operations', { query: 'weather' }, { q: 'weather' }],
  ])('%s takes %j as %j too, and not both at once', async (name, ...given) => {
    const [one, other] = await Promise.all(given.map((args) => post(call(name, args))))
    expect(one?.text).toContain('x402.weather')
    expect(other?.text).toBe(one?.text)
    const twice = await post(call(name, Object.assign({}, ...given)))
    expect(twice.text).toMatch(/(?:listing_id|q).*The arguments are/)
  })

  test.each([
    ['an unknown tool', call('drop_tables', {}), /-3260[12]/],
    ['a wrong type', call('search_listings', { query: 7 }), /isError|-32602/],
    ['an unknown argument', call('search_listings', { qurey: 'x' }), /qurey/],
    ['a value outside its list', call('search_listings', { kind: 'robot' }), /isError|-32602/],
    ['an unknown category', call('search_listings', { category: 'nope' }), /category/],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'tools/eat' }, /-32601/],
    ['text that is not JSON', '{', /-32700/],
    ['a batch too long', Array(21).fill(call('list_facets', {})), /at most 20/],
    ['something else than JSON-RPC', { hello: 1 }, /-3260[0-9]|-32700/],
  ])('%s: the protocol’s own error', async (_, body, expected) => {
    const { status, text } = await post(body)
    expect(text).toMatch(expected)
    expect(status).toBeLessThan(500)
    expect(text).not.toMatch(/problems\//)
  })

  test('a foreign page is refused before anything is read; our own is not', async () => {
    const foreign = await post(call('list_facets', {}), { origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
    const own = await post(call('list_facets', {}), { origin: 'https://waypost.example' })
    expect(own.status).toBe(200)
  })

  test('a message over its bound, another type, another method', async () => {
    expect((await post(JSON.stringify({ x: 'y'.repeat(1_100_000) }))).status).toBe(413)
    expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415)
    for (const method of ['GET', 'DELETE'])
      expect((await fetch(address(), { method })).status, method).toBe(405)
  })

  test('a revision nobody knows, a session that does not exist, a notification', async () => {
    const version = await post(call('list_facets', {}), { 'mcp-protocol-version': '1999-01-01' })
    expect(version.status).toBe(400)
    const session = await post(call('list_facets', {}), { 'mcp-session-id': 'gone' })
    expect(session.status).toBe(200)
    expect(session.headers.get('mcp-session-id')).toBeNull()
    const note = await post({ jsonrpc: '2.0', method: 'notifications/cancelled' })
    expect(note.status).toBe(202)
  })

  test('five results stay within two kilobytes, whatever sellers wrote', async () => {
    const found = await withClient((client) => client.callTool({ name: 'search_listings' }))
    expect(Buffer.byteLength(JSON.stringify(found.structuredContent))).toBeLessThanOrEqual(2048)
  })
})

test('the limit of searches covers the server, and its refusal says when to come back', async () => {
  const limited = await startService({ RATE_LIMITS: '{"search":"2/60"}' })
  const ask = () =>
    fetch(`${limited.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify([call('list_facets', {}, 'a'), call('list_facets', {}, 'b')]),
    })
  expect((await ask()).status).toBe(200)
  const refused = await ask()
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32000 } })
  await limited.close()
})
