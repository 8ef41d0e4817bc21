import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { type KitView, KitViewSchema } from '../../src/domain/kit/kit-view.ts'
import { SELLER_TEXTS } from '../../src/domain/wire/shapes.ts'
import { BASE_URL, SAMPLE_FACTS, toKit, toListing } from './listing-samples.ts'

const UNPRICED = { model: 'unknown' }
const PAID = SAMPLE_FACTS.pricing

function kitOf(id: string, facts: Record<string, unknown>): KitView {
  return toKit(toListing({ id, facts: { name: 'Example', pricing: UNPRICED, ...facts } }))
}

const RELAY = `${BASE_URL}/api/v1/call/x402.example`

function plain(method: string, path: string) {
  return { method, url: `https://api.example.com${path}`, headers: {} }
}

describe('kit.json v0.1', () => {
  test.each([
    ['/', '?lang=en', '?lang=en'],
    ['/', '/?relay_info=1', '?endpoint=%2F%3Frelay_info%3D1'],
    ['/now?lang=en', '/now?lang=en', ''],
    ['/now', '/ask?endpoint=here', '?endpoint=%2Fask%3Fendpoint%3Dhere'],
    ['/now', '/ask?endpoints=here', '?endpoint=%2Fask&endpoints=here'],
  ])('of the listing of %s: the relay reaches %s by %j', (at, path, query) => {
    const url = `https://api.example.com${at}`
    const http = [{ method: 'GET', url: `https://api.example.com${path}` }]
    const { operations } = kitOf('x402.example', { kind: 'http_api', url, pricing: PAID, http })
    expect(operations[0]?.relay_url).toBe(RELAY + query)
  })

  test('of a paid HTTP listing says how to call it, directly and through the relay', () => {
    const kit = kitOf('x402.example', {
      kind: 'http_api',
      url: 'https://api.example.com/weather',
      pricing: PAID,
      http: [
        { method: 'GET', url: 'https://api.example.com/weather', description: 'Now' },
        { method: 'POST', url: 'https://api.example.com/v2/ask?lang=en' },
        { method: 'GET', url: 'https://other.example.com/x' },
      ],
      discovery: { openapi: 'https://api.example.com/openapi.json' },
    })
    expect(v.safeParse(v.strictObject(KitViewSchema.entries), kit).success).toBe(true)
    const { snippets: _, operations, ...rest } = kit
    expect(operations.map(({ example }) => example)).toEqual([
      { ...plain('GET', '/weather'), relay_url: RELAY },
      {
        ...plain('POST', '/v2/ask?lang=en'),
        relay_url: `${RELAY}?endpoint=%2Fv2%2Fask&lang=en`,
        headers: { 'Content-Type': 'application/json' },
        body: {},
      },
      { method: 'GET', url: 'https://other.example.com/x', headers: {} },
    ])
    expect(rest).toEqual({
      kit_version: 'v0.1',
      id: 'x402.example',
      digest: expect.stringMatching(/^[\w-]{43}$/),
      payees: [],
      name: 'Example',
      kind: 'http_api',
      summary: SAMPLE_FACTS.summary,
      url: 'https://api.example.com/weather',
      cost: 'paid',
      auth: { type: 'unknown' },
      invoke: [
        {
          kind: 'http',
          method: 'GET',
          url: 'https://api.example.com/weather',
          relay_url: `${BASE_URL}/api/v1/call/x402.example`,
          description: 'Now',
        },
        {
          kind: 'http',
          method: 'POST',
          url: 'https://api.example.com/v2/ask?lang=en',
          relay_url: `${BASE_URL}/api/v1/call/x402.example?endpoint=%2Fv2%2Fask&lang=en`,
        },
        { kind: 'http', method: 'GET', url: 'https://other.example.com/x' },
      ],
      tools: [],
      skills: [],
      pricing: PAID,
      payment: {
        rails: ['x402'],
        networks: ['eip155:8453'],
        request_headers: ['PAYMENT-SIGNATURE', 'X-PAYMENT'],
        response_headers: ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'],
        authority: expect.stringContaining("The seller's runtime 402 is authoritative"),
        custody: 'none',
        fee_usd: 0,
        relay: {
          url: `${BASE_URL}/api/v1/call/x402.example`,
          info: `${BASE_URL}/api/v1/call/x402.example?relay_info=1`,
        },
      },
      discovery: { openapi: 'https://api.example.com/openapi.json' },
      trust: { score: null, evidence: 'no_payment_data', method: 'hub-trust-v0.1' },
      page: `${BASE_URL}/listing/x402.example`,
      badge_svg: `${BASE_URL}/badge/x402.example.svg`,
      texts: SELLER_TEXTS,
    })
    expect(Object.keys(kit.snippets)).toEqual(['curl', 'typescript', 'python'])
  })

  test('of a listing the relay does not take has no relay address', () => {
    const kit = kitOf('x402.example', {
      kind: 'http_api',
      url: 'https://api.example.com/',
      closed: true,
      pricing: PAID,
    })
    expect(kit.payment.relay).toBeNull()
    expect(kit.invoke).toEqual([{ kind: 'http', method: 'GET', url: 'https://api.example.com/' }])
    expect(JSON.stringify(kit.snippets)).not.toContain('/api/v1/call/')
  })
})

test.each([
  [['x402'], ['eip155:8453'], '@x402/evm'],
  [['x402'], ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'], '@x402/svm'],
  [['mpp'], [], 'mppx/client'],
  [['mpp', 'x402'], ['eip155:8453'], '@x402/evm'],
])('rails %j on %j use %s', (rails, networks, name) => {
  const pricing = { ...PAID, rails, networks }
  const { snippets } = kitOf('x402.example', {
    kind: 'http_api',
    url: 'https://api.example.com/',
    pricing,
  })
  expect(snippets.typescript).toContain(`from '${name}'`)
  expect(findWrongImports(snippets.typescript ?? '')).toEqual([])
})

/** Names that a snippet imports and never uses, and those that it uses and never imports. */
function findWrongImports(snippet: string): string[] {
  const [, ...imports] = snippet.split(/^import /m)
  const code = imports.at(-1)?.replace(/^.*\n/, '') ?? ''
  const lines = imports.map((line) => line.split('\n')[0] ?? '')
  const imported = lines.flatMap((line) => line.match(/\w+(?=.* from )/g) ?? [])
  const called = [...code.matchAll(/(?<![.\w])(\w+)\(/g)].map(([, name = '']) => name)
  const known = [
    ...imported,
    'fetch',
    ...[...code.matchAll(/const (\w+)/g)].map(([, name]) => name),
  ]
  return [
    ...imported.filter((name) => !new RegExp(`\\b${name}\\b`).test(code)),
    ...called.filter((name) => !known.includes(name)),
  ]
}

describe('MCP client configuration', () => {
  const HTTP = { kind: 'mcp', transport: 'streamable-http', url: 'https://mcp.example.com/mcp' }
  const SSE = { kind: 'mcp', transport: 'sse', url: 'https://mcp.example.com/sse' }
  const npm = {
    kind: 'mcp_package',
    transport: 'stdio',
    registry: 'npm',
    identifier: '@example/mcp',
  }
  const packaged = (registry: string, identifier: string) => ({ ...npm, registry, identifier })

  const snippetsOf = (...invoke: object[]) =>
    kitOf('mcp.example.weather', { kind: 'mcp_server', url: 'https://mcp.example.com/', invoke })
      .snippets

  const json = (text: string | undefined) => JSON.parse(text ?? '')
  const only = (root: string, server: object) => ({ [root]: { 'example-weather': server } })

  test('of a remote', () => {
    const snippets = snippetsOf(npm, SSE, HTTP)
    const typed = { type: 'http', url: HTTP.url }
    expect(json(snippets.claude_code)).toEqual(only('mcpServers', typed))
    expect(json(snippets.vscode)).toEqual(only('servers', typed))
    expect(json(snippets.cursor)).toEqual(only('mcpServers', { url: HTTP.url }))
    expect(json(snippets.devin_desktop)).toEqual(only('mcpServers', { url: HTTP.url }))
    expect(json(snippets.gemini_cli)).toEqual(only('mcpServers', { httpUrl: HTTP.url }))
    expect(json(snippets.claude_desktop)).toEqual(
      only('mcpServers', { command: 'npx', args: ['-y', 'mcp-remote', HTTP.url] }),
    )
    expect(snippets.codex).toBe(`[mcp_servers.example-weather]\nurl = "${HTTP.url}"\n`)
  })

  test.each([
    [npm, { command: 'npx', args: ['-y', '@example/mcp'] }],
    [packaged('pypi', 'example-mcp'), { command: 'uvx', args: ['example-mcp'] }],
    [
      packaged('oci', 'ghcr.io/example/mcp:1.0'),
      { command: 'docker', args: ['run', '-i', '--rm', 'ghcr.io/example/mcp:1.0'] },
    ],
    [packaged('nuget', 'Example.Mcp'), { command: 'dnx', args: ['Example.Mcp', '--yes'] }],
  ])('of a package: %j', (entry, started) => {
    const snippets = snippetsOf(entry)
    for (const client of ['claude_desktop', 'cursor', 'devin_desktop', 'gemini_cli'])
      expect(json(snippets[client])).toEqual(only('mcpServers', started))
    expect(json(snippets.vscode)).toEqual(only('servers', { type: 'stdio', ...started }))
    expect(json(snippets.claude_code)).toEqual(only('mcpServers', { type: 'stdio', ...started }))
  })

  test('of a bundle is its download', () => {
    const bundle = packaged('mcpb', 'https://example.org/a.mcpb')
    expect(Object.keys(snippetsOf(bundle))).toEqual(['curl'])
    expect(snippetsOf()).toEqual({})
  })
})

describe('the install line of a kit', () => {
  const SKILL = { source: 'agent_skills', ref: 'https://github.com/acme/kits' }
  const kitAt = (url: string, sources: object[] = [SKILL]) =>
    kitOf('kit.pdf', { kind: 'kit', url, sources })
  test.each([
    ['a folder', 'https://github.com/acme/kits/tree/main/skills/pdf'],
    ['a repository', 'https://github.com/acme/kits'],
  ])('names %s', (_, url) => {
    expect(kitAt(url).snippets.install).toBe(`npx skills add ${url}\n`)
  })

  test('names no branch where its address names none', () => {
    const { snippets } = kitAt('https://github.com/acme/kits/tree/HEAD/skills/pdf')
    expect(snippets.install).toBe('npx skills add acme/kits/skills/pdf\n')
  })

  test('is absent where nothing says that it is a skill, or where a shell would read its address', () => {
    const source = { source: 'waypost', ref: 'https://example.com/' }
    expect(kitAt('https://github.com/acme/kits', [source]).snippets).toEqual({})
    expect(kitAt('https://acme.example/kits').snippets).toEqual({})
    expect(kitAt('https://github.com/acme/kits/tree/main/$(id)').snippets).toEqual({})
  })
})
