import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aListing, startRelay } from '../call/relay-world.ts'
import { toKit, toListing } from '../domain/listing-samples.ts'
import { listen } from '../support/listen.ts'
import { IS_LONG } from '../support/long.ts'
import { tempFolder } from '../support/temp-folder.ts'

const run = promisify(execFile)
const folder = tempFolder('snippets')

interface Seen {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

let server: Server
let origin: string
let seen: Seen[] = []
/** What the seller's agent card says; the path decides. */
const cards: Record<string, () => object> = {
  '/v1/agent-card.json': () => ({
    name: 'One',
    supportedInterfaces: [
      { url: `${origin}/v1/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: `${origin}/v1/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
  }),
  '/v03/agent-card.json': () => ({
    name: 'Old',
    url: `${origin}/v03/rpc`,
    protocolVersion: '0.3.0',
  }),
}

beforeAll(async () => {
  server = createServer(async (req, res) => {
    const { method = '', url = '', headers } = req
    seen.push({ method, url, headers, body: await readText(req) })
    const isUnpaid = url.startsWith('/paid') && headers['payment-signature'] === undefined
    res.statusCode = isUnpaid ? 402 : 200
    res.end(JSON.stringify(cards[url]?.() ?? { answer: res.statusCode }))
  })
  origin = `http://127.0.0.1:${await listen(server)}`
})
afterAll(() => server.close())
beforeEach(() => {
  seen = []
})

function snippetsOf(front: object, evidence: object = {}): Record<string, string> {
  const facts = { pricing: { model: 'unknown' }, ...front }
  return toKit(toListing({ id: 'api.example', facts, evidence, rules: { allowPrivate: true } }))
    .snippets
}

const LANGUAGES = {
  curl: (code: string) => run('bash', ['-euc', code]),
  typescript: (code: string) => {
    const file = join(folder, 'snippet.mts')
    writeFileSync(file, code)
    return run(process.execPath, [file])
  },
  python: (code: string) => run('python3', ['-c', code]),
} as const
const NAMES = Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[]

async function runAll(snippets: Record<string, string>, language: keyof typeof LANGUAGES) {
  const { stdout } = await LANGUAGES[language](snippets[language] ?? '')
  return stdout
}

/** Shell, TypeScript and Python would each stumble over one of these. */
const NASTY = `it's "100%" $HOME $(id) \\n é😀 @file`

describe.each(NAMES)('%s of kit.json makes the documented request', (language) => {
  test('with path, query and header', async () => {
    const snippets = snippetsOf({
      url: origin,
      http: [
        {
          method: 'GET',
          url: `${origin}/users/{id}/posts?v=2`,
          params: [
            { name: 'id', in: 'path', example: 'a/b' },
            { name: 'q[text]', in: 'query', example: NASTY },
            { name: 'limit', in: 'query', example: 5 },
            { name: 'sort', in: 'query' },
            { name: 'X-Lang', in: 'header', example: "it's" },
          ],
        },
      ],
    })
    await runAll(snippets, language)
    expect(seen).toHaveLength(1)
    const [request] = seen
    expect(request).toMatchObject({ method: 'GET', body: '', headers: { 'x-lang': "it's" } })
    const url = new URL(request?.url ?? '', origin)
    expect(url.pathname).toBe('/users/a%2Fb/posts')
    expect([...url.searchParams]).toEqual([
      ['v', '2'],
      ['q[text]', NASTY],
      ['limit', '5'],
    ])
  })

  test.each(['POST', ...(IS_LONG ? ['PUT', 'PATCH', 'DELETE'] : [])])(
    '%s with a JSON body',
    async (method) => {
      const example = { q: NASTY, deep: [{ yes: true, none: null, n: 1.5 }] }
      const body = { schema: { type: 'object', required: ['q'] }, example }
      await runAll(
        snippetsOf({ url: origin, http: [{ method, url: `${origin}/ask`, body }] }),
        language,
      )
      expect(seen).toHaveLength(1)
      expect(seen[0]).toMatchObject({ method, headers: { 'content-type': 'application/json' } })
      expect(JSON.parse(seen[0]?.body ?? '')).toEqual(example)
    },
  )

  test('with a form', async () => {
    const body = {
      content_type: 'application/x-www-form-urlencoded',
      example: { text: NASTY, lang: 'DE' },
    }
    const http = [{ method: 'POST', url: `${origin}/form`, body }]
    await runAll(snippetsOf({ url: origin, http }), language)
    expect(seen[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect(Object.fromEntries(new URLSearchParams(seen[0]?.body))).toEqual(body.example)
  })

  test('with a key that only the caller has, visibly left open', async () => {
    const auth = { type: 'api_key', in: 'header', name: 'X-API-Key' }
    const snippets = snippetsOf({
      url: origin,
      auth,
      http: [{ method: 'GET', url: `${origin}/x` }],
    })
    expect(snippets[language]).toContain('<API_KEY>')
    await runAll(snippets, language)
    expect(seen[0]?.headers['x-api-key']).toBe('<API_KEY>')
  })

  test('of the operation that a buyer most likely wants: the first with a price', async () => {
    const price = { min_usd: 0.01, max_usd: 0.01, per: 'call' }
    const http = [
      { method: 'GET', url: `${origin}/health` },
      { method: 'GET', url: `${origin}/weather`, price },
    ]
    await runAll(snippetsOf({ url: origin, http }), language)
    expect(seen.map(({ url }) => url)).toEqual(['/weather'])
  })

  test.each([
    ['/v1/agent-card.json', '/v1/rpc', 'SendMessage', '1.0', 'ROLE_USER'],
    ['/v03/agent-card.json', '/v03/rpc', 'message/send', undefined, 'user'],
  ])('a message to the agent of %s', async (card, rpc, method, version, role) => {
    const snippets = snippetsOf(
      {
        kind: 'a2a_agent',
        url: `${origin}${rpc}`,
        http: [],
        discovery: { agent_card: `${origin}${card}` },
      },
      {
        interface: {
          at: '2026-11-01T00:00:00Z',
          from: 'agent_card',
          skills: [{ id: 'a', name: 'A', description: 'A.', examples: [NASTY] }],
        },
      },
    )
    if (language === 'curl') {
      const name = version === undefined ? 'A2A_0_3_URL' : 'A2A_1_0_URL'
      const env = { ...process.env, [name]: `${origin}${rpc}` }
      await run('bash', ['-euc', snippets.curl ?? ''], { env })
    } else await runAll(snippets, language)
    expect(seen.map(({ url }) => url)).toEqual([card, rpc])
    expect(seen[1]?.headers['a2a-version']).toBe(version)
    const message = JSON.parse(seen[1]?.body ?? '')
    expect(message).toMatchObject({
      jsonrpc: '2.0',
      method,
      params: { message: { role, parts: [{ text: NASTY }] } },
    })
    expect(message.params.message.messageId).toMatch(/^[0-9a-f-]{36}$/)
    expect('kind' in message.params.message).toBe(version === undefined)
  })

  test.each([
    ['1.0', 'SendMessage', '1.0'],
    ['0.3.0', 'message/send', undefined],
  ])(
    'a message to an agent whose card of %s was read is one request',
    async (protocol, method, version) => {
      const server = { protocol, url: `${origin}/agent`, binding: 'JSONRPC' }
      const { curl = '' } = snippetsOf(
        { kind: 'a2a_agent', url: origin, http: [] },
        { interface: { at: '2026-11-01T00:00:00Z', from: 'agent_card', server } },
      )
      if (language !== 'curl') return
      await run('bash', ['-euc', curl])
      expect(seen.map(({ url }) => url)).toEqual(['/agent'])
      expect(seen[0]?.headers['a2a-version']).toBe(version)
      expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({ jsonrpc: '2.0', method })
    },
  )
})

describe('what pays', () => {
  const pricing = {
    model: 'per_call',
    min_usd: 0.01,
    max_usd: 0.01,
    rails: ['x402'],
    networks: ['eip155:8453'],
  }
  const http = () => [
    {
      method: 'POST',
      url: `${origin}/paid`,
      body: { example: { q: NASTY } },
      price: { min_usd: 0.01, max_usd: 0.01, per: 'call' },
    },
  ]

  test('curl asks, then pays with the same request', async () => {
    const { curl = '' } = snippetsOf({ url: origin, pricing, closed: true, http: http() })
    await run('bash', ['-euc', curl], { env: { ...process.env, PAYMENT: 'signed' } })
    expect(seen.map(({ headers }) => headers['payment-signature'])).toEqual([undefined, 'signed'])
    for (const { body } of seen) expect(JSON.parse(body)).toEqual({ q: NASTY })
  })

  test('Python is sound code, its body included', async () => {
    const { python = '' } = snippetsOf({ url: origin, pricing, closed: true, http: http() })
    expect(python).toContain('x402_requests')
    await run('python3', ['-c', 'import sys; compile(sys.argv[1], "snippet", "exec")', python])
  })

  test('a GET runs through the relay as it stands: its query arrives, and so does the payment', async () => {
    const relay = await startRelay({ listings: [aListing(`${origin}/`, { id: 'api.example' })] })
    try {
      const { curl = '' } = snippetsOf({
        url: `${origin}/`,
        pricing,
        http: [
          {
            method: 'GET',
            url: `${origin}/paid/{id}`,
            params: [
              { name: 'id', in: 'path', required: true, example: 'a b' },
              { name: 'q', in: 'query', required: true, example: NASTY },
            ],
            price: { min_usd: 0.01, max_usd: 0.01, per: 'call' },
          },
        ],
      })
      const here = curl.replaceAll('https://directory.example/api/v1/call', relay.url)
      expect(here).not.toBe(curl)
      await run('bash', ['-euc', here], { env: { ...process.env, PAYMENT: 'signed' } })
      expect(seen.map(({ headers }) => headers['payment-signature'])).toEqual([undefined, 'signed'])
      for (const { method, url } of seen) {
        const requested = new URL(url, origin)
        expect([method, requested.pathname]).toEqual(['GET', '/paid/a%20b'])
        expect(Object.fromEntries(requested.searchParams)).toEqual({ q: NASTY })
      }
    } finally {
      await relay.close()
    }
  })

  test('goes through the relay where the relay takes it', () => {
    const { curl } = snippetsOf({ url: `${origin}/`, pricing, http: http() })
    expect(curl).toContain('https://directory.example/api/v1/call/api.example?endpoint=%2Fpaid')
  })
})
