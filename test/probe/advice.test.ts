import type { IncomingMessage } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { lintUrl } from '../../functions/probes/lint.ts'
import { withDocument } from '../../src/domain/sellers/lint.ts'
import { OFFER, openClient, openSite } from './probe-world.ts'

interface Answer {
  status: number
  headers?: Record<string, string>
  body?: unknown
}
interface Requested {
  method: string
  /** Of JSON-RPC; '' for a plain request. */
  rpc: string
  path: string
  session: boolean
}
type Reply = Answer | ((requested: Requested) => Answer)

const { amount: _, ...FORMER } = { ...OFFER, network: 'base', maxAmountRequired: '10000' }
const inHeader = (terms: unknown): Answer => ({
  status: 402,
  headers: { 'payment-required': Buffer.from(JSON.stringify(terms)).toString('base64') },
})
const offering = (...accepts: unknown[]) => inHeader({ x402Version: 2, accepts })
const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Hello</p>' }
const result = (value: unknown): Answer => ({
  status: 200,
  body: { jsonrpc: '2.0', result: value },
})
const error = (code: number, message: string, data?: unknown): Answer => ({
  status: 200,
  body: { jsonrpc: '2.0', error: { code, message, data } },
})
const GREETING = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'harbour', version: '1.0.0' },
}

/** An MCP server of a former revision, with what it answers to further methods. */
function mcp(answers: Record<string, Answer>, session = false): Reply {
  return ({ rpc, session: hasSession }) => {
    if (rpc === 'initialize') {
      const opened = result(GREETING)
      return session ? { ...opened, headers: { 'mcp-session-id': 's1' } } : opened
    }
    if (session && hasSession) return { status: 500 }
    return answers[rpc] ?? error(-32_601, 'Method not found')
  }
}
const tool = (more: object = {}) => ({
  ...{ name: 'find_ship', description: 'Finds a ship by its name.', ...more },
  inputSchema: { type: 'object' },
})
const tools = (...list: unknown[]) => result({ tools: list })
const card = (more: object = {}) => ({
  ...{ name: 'Harbour', description: 'Answers questions on ships.', version: '1.0.0' },
  ...{ capabilities: {}, defaultInputModes: ['text'], defaultOutputModes: ['text'], skills: [] },
  supportedInterfaces: [{ url: 'https://agent.elsewhere.example/a2a', protocolBinding: 'JSONRPC' }],
  ...more,
})
const DISCOVER = 'server/discover'
const NEWER = { supported: ['2027-01-01'] }
const NONE = error(-32_601, 'Method not found')
/** A server that would speak a former revision, but for these answers. */
const former = (answers: Record<string, Answer>): Reply => {
  const usual: Record<string, Answer> = {
    initialize: result(GREETING),
    'tools/list': tools(tool()),
  }
  return ({ rpc }) => answers[rpc] ?? usual[rpc] ?? { status: 202 }
}
const atCard = (value: unknown): Reply => {
  return ({ path }) => (path.startsWith('/.well-known/') ? { status: 200, body: value } : page)
}

const NO_TERMS =
  'the 402 states no terms: a caller who wants to pay finds neither a price nor a payee → Answer an unpaid call with 402'

/** What is answered, and how the advice on it begins: right things, then what → change. */
const CASES: [string, Reply, ...string[]][] = [
  ['a 402 without a body', { status: 402 }, NO_TERMS],
  ['a 402 with a page', { ...page, status: 402 }, NO_TERMS],
  [
    'terms of version 1 beside a header that does not decode',
    {
      status: 402,
      headers: { 'payment-required': 'not%%%base64' },
      body: { x402Version: 1, accepts: [FORMER] },
    },
    'It speaks x402: 402 with 1 offer: $0.01 on eip155:8453.',
    'the PAYMENT-REQUIRED header is not base64 of JSON; clients of version 1 can pay with the terms in the body → Fix this header: it should be base64 of {"x402Version":2,"accepts":[…]}. Clients of version 2 read nothing else.',
  ],
  [
    'networks of other name spaces',
    offering(
      { ...OFFER, network: 'tron:0x2b6653dc', payTo: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC' },
      { ...OFFER, network: 'aptos:1', asset: '0x1', payTo: '0x1' },
    ),
    'It speaks x402: 402 with 2 offers: exact on tron:0x2b6653dc, exact on aptos:1.',
    'tron:0x2b6653dc and aptos:1: valid network names, but we know no price of their coins.',
  ],
  [
    'a JSON-RPC error with terms',
    error(-32_042, 'Payment required', { x402Version: 2, accepts: [OFFER] }),
    'It answers: a JSON-RPC error before the handshake, with 1 offer: $0.01 on eip155:8453.',
  ],
  [
    'a session that breaks',
    mcp({}, true),
    'initialize gave an Mcp-Session-Id, but tools/list with that id answered status 500 → Keep the session that initialize opened',
  ],
  [
    'a cursor that never moves',
    mcp({ 'tools/list': result({ tools: [], nextCursor: 'same' }) }),
    'It speaks mcp: MCP 2025-06-18, harbour, 0 tools, a list that was cut: nextCursor "same" came back unchanged.',
    'the list of tools was cut: nextCursor "same" came back unchanged → Give each page of tools/list its own nextCursor',
  ],
  [
    'terms without a version',
    { status: 402, body: { accepts: [FORMER] } },
    'the terms in the body name no x402Version → Say "x402Version": 1 beside accepts.',
  ],
  [
    'terms of version 2 in the body alone',
    { status: 402, body: { x402Version: 2, accepts: [OFFER] } },
    'It speaks x402: 402 with 1 offer: $0.01 on eip155:8453.',
    'the terms of x402 version 2 are in the body only → Send them in the PAYMENT-REQUIRED header too',
  ],
  [
    'no offers',
    offering(),
    'the terms in the PAYMENT-REQUIRED header have no offers in accepts → Put at least one offer into accepts',
  ],
  [
    'an amount in dollars',
    offering({ ...OFFER, amount: '0.01' }),
    'accepts[0] asks for "0.01", which is not a whole number of base units → Write the amount in base units',
  ],
  [
    'an offer without a payee',
    offering({ ...OFFER, payTo: '' }),
    'accepts[0] has no payTo → Name payTo in every offer.',
  ],
  [
    'a payee of another chain',
    offering({ ...OFFER, payTo: 'harbour.eth' }),
    'It speaks x402: 402 with 1 offer: $0.01 on eip155:8453.',
    'an offer (exact) names a payee that is not an address on its network → payTo must be a full address',
  ],
  [
    'a network by its name in version 2',
    offering({ ...OFFER, network: 'base' }),
    'It speaks x402: 402 with 1 offer: $0.01 on eip155:8453.',
    'accepts[0] names the network "base", which is not a CAIP-2 id → Version 2 names networks by CAIP-2: write eip155:8453.',
  ],
  [
    'coins of a test network',
    offering({ ...OFFER, network: 'eip155:84532' }),
    'It speaks x402: 402 with 1 offer: exact on eip155:84532.',
    'every offer is on a test network → Offer a main network too',
  ],
  [
    'decimals of another coin',
    offering({ ...OFFER, amount: '10000000000000000' }),
    'It speaks x402: 402 with 1 offer: $10000000000 on eip155:8453.',
    'an offer (exact) asks for more than $1,000 for one call → Check the decimals',
  ],
  [
    'a Payment challenge without a request',
    { status: 402, headers: { 'www-authenticate': 'Payment id="1", realm="r", method="tempo"' } },
    'no Payment challenge in WWW-Authenticate has id, realm, method, intent and a readable request → Answer an unpaid call with 402 and WWW-Authenticate',
  ],
  [
    'terms with status 200',
    { status: 200, body: { x402Version: 1, accepts: [FORMER] } },
    'terms of payment with status 200 → Send these terms with status 402',
  ],
  [
    'a page',
    page,
    'status 200 with text/html, expected application/json → This is a page for people',
  ],
  [
    'a redirect',
    { status: 308, headers: { location: '/new' } },
    'status 308, a redirect to /new → Publish the address that answers',
  ],
  ['nothing there', { status: 404 }, 'status 404 → Check that the published address'],
  [
    'a token wanted',
    { status: 401, headers: { 'www-authenticate': 'Bearer' } },
    'It answers: status 401.',
    'status 401: a caller without credentials cannot see the tools → Declare auth in the listing.',
  ],
  [
    'too many requests',
    { status: 429, headers: { 'retry-after': '60' } },
    'status 429, retry after 60 s → Nothing to change: the service asked for a pause',
  ],
  [
    'JSON-RPC that knows neither handshake',
    error(-32_601, 'Method not found'),
    'JSON-RPC error -32601: Method not found → Answer POST with JSON-RPC: server/discover',
  ],
  ['other headers wanted', former({ [DISCOVER]: error(-32_020, 'No') }), 'JSON-RPC error -32020'],
  ['newer revisions', former({ [DISCOVER]: error(-32_022, 'No', NEWER) }), 'JSON-RPC error -32022'],
  [
    'a session at once',
    former({ [DISCOVER]: result(GREETING), initialize: NONE }),
    'It speaks mcp',
  ],
  ['no session', mcp({}), 'JSON-RPC error -32601: Method not found → Answer POST'],
  [
    'a tool without a name',
    mcp({ 'tools/list': tools(tool(), tool({ name: '' })) }),
    'It speaks mcp: MCP 2025-06-18, harbour, 1 tool, a list that was cut: tools or schemas that are too large or malformed.',
    'the list of tools was cut: tools or schemas that are too large or malformed → ',
  ],
  [
    'a tool without a description',
    mcp({ 'tools/list': tools(tool({ description: '' })) }),
    'It speaks mcp: MCP 2025-06-18, harbour, 1 tool.',
    '1 of 1 tools have no description, such as find_ship → Say in a sentence what each tool does',
  ],
  [
    'a card without skills',
    atCard(card({ skills: undefined })),
    'a card that is not valid: skills: missing → Serve a valid card',
  ],
  [
    'a card for another domain',
    atCard(card()),
    'a card with its interface on another domain, agent.elsewhere.example → Serve the card on the domain that takes the messages',
  ],
]

async function advise(reply: Reply): Promise<string[]> {
  const site = await openSite(async (req, res) => {
    const { asked: requested, id } = await readRequested(req)
    const { status, headers = {}, body } = typeof reply === 'function' ? reply(requested) : reply
    const isJson = typeof body === 'object'
    const answered = isJson && body !== null && 'jsonrpc' in body ? { ...body, id } : body
    res.writeHead(status, { ...(isJson && { 'content-type': 'application/json' }), ...headers })
    res.end(isJson ? JSON.stringify(answered) : String(body ?? ''))
  })
  const { right, problems } = await lintUrl(`${site.url}/call`, undefined, openClient(), Date.now)
  return [...right, ...problems.map(({ what, change }) => `${what} → ${change}`)]
}

async function readRequested(req: IncomingMessage): Promise<{ asked: Requested; id: unknown }> {
  const text = await readText(req)
  const { method: rpc = '', id }: { method?: string; id?: unknown } = text ? JSON.parse(text) : {}
  const session = req.headers['mcp-session-id'] !== undefined
  return { id, asked: { method: req.method ?? '', rpc, path: req.url ?? '', session } }
}

test.each(CASES)('the advice on %s', async (_name, reply, ...expected) => {
  const advice = await advise(reply)
  expect(advice).toHaveLength(expected.length)
  for (const [at, sentence] of expected.entries())
    expect(advice[at]?.slice(0, sentence.length)).toBe(sentence)
  expect(advice.every((line) => /[.]$/.test(line))).toBe(true)
})

const OFFERED = { x402Version: 2, resources: [{ path: '/a', accepts: [OFFER] }, { path: '/b' }] }

test.each([
  [OFFERED, 'status 200, an x402 manifest with 2 operations, 1 with a price', undefined],
  [
    { x402Version: 1, endpoints: [{ path: '/a', price: '$0.01', payTo: 'YOUR_WALLET' }] },
    'status 200, an x402 manifest with 1 operation, 1 with a price',
    'payTo is the placeholder "YOUR_WALLET"',
  ],
  [
    { x402Version: 2, resources: [{ url: 'https://elsewhere.example/a' }] },
    'status 200, an x402 manifest with 0 operations, 0 with a price',
    'none of its entries is an operation on shop.example',
  ],
  [
    { openapi: '3.1.0', paths: { '/a': { get: { 'x-payment-info': { price: '$0.01' } } } } },
    'status 200, an OpenAPI document with 1 operation, 1 with a price',
    undefined,
  ],
  [
    { version: 1, resources: ['https://shop.example/a'] },
    'status 200, an x402 manifest with 1 operation, 0 with a price',
    undefined,
  ],
  [{ items: [{ url: 'https://shop.example/a' }] }, 'status 200', undefined],
])('a document of the seller’s is read as discovery reads it: %j', (document, saw, what) => {
  const headers = new Map([['content-type', ['application/json']]])
  const answer = { status: 200, headers, body: JSON.stringify(document), cut: null, ms: 1 }
  const heard = { protocol: 'http', outcome: 'spoke', saw: 'status 200' } as const
  const finding = withDocument(
    heard,
    answer,
    'resources' in document
      ? 'https://shop.example/.well-known/x402'
      : 'https://shop.example/a.json',
  )
  expect([finding.saw, finding.faults?.[0]?.what]).toEqual([saw, what])
})

test('a host that looks like another is marked, one of one script is not', async () => {
  const silent = { answered: false, failure: 'no_such_host', detail: '', ms: 0 } as const
  const client = { fetch: async () => silent }
  const adviseHost = async (host: string) => {
    const { problems } = await lintUrl(`${new URL(`https://${host}/`)}`, 'http', client, Date.now)
    return problems.map(({ what }) => what).join()
  }
  expect(await adviseHost('p\u0430ypal.example')).toContain('Latin mixed with Cyrillic')
  expect(await adviseHost('größe.example')).not.toContain('mixed')
})

test.each([
  ['tls', 'Check that the certificate is valid'],
  ['address_refused', 'The host must resolve to public addresses'],
  ['refused', 'Check that the service listens'],
] as const)('a request that fails by %s gets its own advice', async (failure, change) => {
  const client = { fetch: async () => ({ answered: false, failure, detail: '', ms: 0 }) as const }
  const { problems } = await lintUrl('https://shop.example/', 'http', client, Date.now)
  expect(problems[0]?.change.slice(0, change.length)).toBe(change)
})

test('an MCP server card is no agent card that lacks something', async () => {
  const server = { name: 'docs', version: '1', url: 'https://mcp.shop.example', transport: 'http' }
  const advice = await advise(atCard({ ...server, capabilities: { tools: true } }))
  expect(advice.join()).not.toContain('agent-card')
})

test('a seller who asks for money is never told to speak MCP', async () => {
  for (const [name, reply] of CASES.filter(([, each]) => 'status' in each && each.status === 402))
    expect((await advise(reply)).join(' '), name).not.toMatch(/MCP|JSON-RPC/)
})
