import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IS_LONG, longTest } from '../support/long.ts'
import type { RunningService } from '../support/running-service.ts'
import { createOwnDirectory, type OwnDirectory, readPages } from './own-directory.ts'

/** Words of what an internal directory left out. */
const GONE =
  /\b(?:sellers?|claim(?:s|ed)?|pay(?:s|ing|ments?|ees?)?|paid|wallets?|x402|402|prices?|buyers?|rails?|trust(?:ed)?|scores?|free|roadmap|business model)\b/gi

/** The example's price, and what is said beside one. */
const PRICED = /0\.01|\$\d|\bPer call\b|\bPays? with\b|\bwallet|eip155|PAYMENT-SIGNATURE/i

let own: OwnDirectory
let acme: RunningService
beforeAll(async () => {
  own = await createOwnDirectory(
    'switches: { sellers: false, payments: false, business_model: false, roadmap: false, trust: false }\n',
  )
  const notes = readFileSync(join(own.content, 'listings/mcp/example-notes.md'), 'utf8')
  const pricing =
    'pricing: { model: per_call, min_usd: 0.01, max_usd: 0.01, rails: [x402], networks: ["eip155:8453"] }'
  writeFileSync(
    join(own.content, 'listings/mcp/example-lookup.md'),
    notes
      .replace('Example notes', 'Example lookup')
      .replaceAll('https://notes.', 'https://lookup.')
      .replace(/^pricing: .*$/m, pricing),
  )
  reportUse(own, 'mcp')
  rmSync(join(own.content, 'listings/x402'), { recursive: true })
  // Pages take four fifths of a build; those without a roadmap are in `own-directory.test.ts`.
  await (IS_LONG ? own.build() : own.buildData())
  acme = await own.start()
})
afterAll(() => acme?.close())

describe('a directory without payments that has a listing with a price', () => {
  let priced: OwnDirectory
  let service: RunningService
  beforeAll(async () => {
    priced = await createOwnDirectory('switches: { payments: false }\n')
    reportUse(priced, 'x402')
    await priced.buildData()
    service = await priced.start()
  })
  afterAll(() => service?.close())
  const read = async (path: string) => (await fetch(service.url + path)).text()
  test('carries what others counted, but for payments', async () => {
    const json = await read('/api/v1/listings/x402.example-lookup')
    expect(JSON.parse(json).reported_use).toMatchObject([{ what: 'stars', value: 12 }])
    for (const text of [json, await read('/api/v1/listings.ndjson')])
      expect(text).not.toMatch(/settlement|7,?341/)
  })

  test('says none to a program', async () => {
    for (const path of [
      '/api/v1/search?q=lookup',
      '/api/v1/operations?q=lookup',
      '/api/v1/listings/x402.example-lookup',
      '/api/v1/listings/x402.example-lookup/kit.json',
      '/listing/x402.example-lookup.md',
      '/api/v1/listings.ndjson',
    ])
      expect([path, PRICED.exec(await read(path))?.[0]]).toEqual([path, undefined])
    expect(JSON.parse(await read('/api/v1/listings/x402.example-lookup')).pricing).toEqual({
      model: 'unknown',
    })
  })
})

describe('a directory without sellers, payments, business model, roadmap and trust', () => {
  longTest('has no word of them, and no price, on any page', async () => {
    const pages = readPages(own)
    for (const path of [
      '/search',
      '/search?q=notes',
      '/search?q=zzzz',
      '/search?q=lookup',
      '/report',
      '/report?kind=dispute&about=mcp.example-notes',
      '/compare?ids=mcp.example-notes,api.example-status,mcp.example-lookup',
    ])
      pages.set(path, await (await fetch(acme.url + path)).text())
    expect(pages.size).toBeGreaterThan(20)
    const lookup = pages.get('listing/mcp.example-lookup/index.html')
    expect(lookup).toContain('12 stars')
    expect(lookup).not.toMatch(/settlement|7,?341/)
    expect([...pages].flatMap(([path, html]) => findGone(path, toText(html)))).toEqual([])
    const prices = [...pages].map(([path, html]) => [path, PRICED.exec(toText(html))?.[0]])
    expect(prices.filter(([, price]) => price !== undefined)).toEqual([])
  })

  test('has no word of them in what it says to agents', async () => {
    const found = []
    const { info, paths } = await (await fetch(`${acme.url}/openapi.json`)).json()
    found.push(...findGone('/openapi.json', toStated({ info, paths })))
    for (const path of ['/llms.txt', '/llms-full.txt', '/listing/mcp.example-notes.md'])
      found.push(...findGone(path, await (await fetch(acme.url + path)).text()))
    for (const path of [
      '/.well-known/agent-card.json',
      '/.well-known/ard.json',
      '/mcp/server-card',
    ])
      found.push(...findGone(path, toStated(await (await fetch(acme.url + path)).json())))
    for (const method of ['initialize', 'tools/list', 'prompts/list', 'resources/templates/list'])
      found.push(...findGone(method, toStated(await askMcp(method))))
    expect(found).toEqual([])
  })

  test('a tool takes no argument of them', async () => {
    const given = { name: 'search_listings', arguments: { query: 'notes', max_price_usd: 1 } }
    expect(JSON.stringify(await askMcp('tools/call', given))).toContain('max_price_usd')
    const sorted = { name: 'search_listings', arguments: { query: 'notes', sort: 'price' } }
    expect(JSON.stringify(await askMcp('tools/call', sorted))).toContain('sort')
    const found = JSON.stringify(await askMcp('tools/list'), (key, value) =>
      key === 'outputSchema' ? undefined : value,
    )
    expect(found).toContain('"category"')
    expect(found).toContain('["relevance","newest"]')
    expect(found).not.toMatch(/"(?:min_trust|rail|payment|price|trust)"/)
  })

  test('its interface takes no parameter of them, and no value', async () => {
    const { paths } = await (await fetch(`${acme.url}/openapi.json`)).json()
    const { parameters } = paths['/api/v1/search'].get
    const values = parameters.map(({ name, schema }: { name: string; schema: object }) => [
      name,
      ...(JSON.stringify(schema).match(/"enum":\[[^\]]*\]/) ?? []),
    ])
    expect(JSON.stringify(values)).toContain('newest')
    expect(JSON.stringify(values)).not.toMatch(/price|trust|rail|network|paid|payment/)
  })

  longTest.each([
    '/sellers',
    '/sellers/check',
    '/trust',
    '/badges',
    '/market',
    '/not-listed',
    '/roadmap',
    '/business-model',
    '/docs/sellers',
  ])('%s is not there, and nobody links to it', async (path) => {
    const response = await fetch(acme.url + path, { headers: { accept: 'text/html' } })
    expect(response.status).toBe(404)
    const linking = [...readPages(own)].filter(([, html]) => html.includes(`href="${path}"`))
    expect(linking.map(([page]) => page)).toEqual([])
  })

  test.each([
    '/api/v1/roadmap',
    '/api/v1/business-model',
    '/api/v1/sellers/claims',
    '/api/v1/trust/method',
    '/api/v1/receipts/days.json',
  ])('%s is not there, and the document does not name it', async (path) => {
    expect((await fetch(acme.url + path)).status).toBe(404)
    expect(await (await fetch(`${acme.url}/openapi.json`)).text()).not.toContain(`"${path}"`)
  })

  longTest('says how to compare where nobody wrote a comparison yet', async () => {
    expect(await (await fetch(`${acme.url}/compare`)).text()).toContain('then press Compare')
  })

  test('keeps what it has', async () => {
    const pages = ['/', '/kind/mcp_server', '/docs', '/listing/mcp.example-notes']
    for (const path of ['/api/v1/search', '/api/v1/categories', ...(IS_LONG ? pages : [])])
      expect((await fetch(acme.url + path)).status).toBe(200)
  })
})

/** What others counted of the example with a price. */
function reportUse({ content }: OwnDirectory, prefix: string): void {
  const use = (what: string, value: number) => ({
    ...{ source: 'github', what, value, as_of: '2026-11-20T00:00:00Z' },
  })
  const file = join(content, `evidence/${prefix}/example-lookup.json`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(
    file,
    JSON.stringify({ reported_use: [use('settlements', 7341), use('stars', 12)] }),
  )
}

/** The words of what is left out, each with where it is said. */
function findGone(where: string, text: string): string[] {
  const words = [...text.matchAll(GONE)].map(({ 0: word, index }) =>
    `${text.slice(Math.max(0, index - 30), index)}[${word}]${text.slice(index + word.length, index + word.length + 20)}`.replaceAll(
      /\s+/g,
      ' ',
    ),
  )
  return words.length === 0 ? [] : [`${where}: ${[...new Set(words)].join(', ')}`]
}

async function askMcp(method: string, params: object = {}): Promise<unknown> {
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: CLIENT }
  const requested = method === 'initialize' ? client : params
  const response = await fetch(`${acme.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: requested }),
  })
  const text = await response.text()
  return JSON.parse(text.replace(/^[\s\S]*?^data: /m, ''))
}
const CLIENT = { name: 'test', version: '1' }

/** What a document says in words; the names and values of the interface's closed lists are not its words. */
function toStated(document: unknown): string {
  const stated: string[] = []
  JSON.stringify(document, (key, value) => {
    if (key === 'outputSchema') return undefined
    if (typeof value === 'string' && STATED.has(key)) stated.push(value)
    return value
  })
  return stated.join('\n')
}
const STATED = new Set(['description', 'summary', 'title', 'instructions', 'displayName'])

/** What a reader sees or hears: no scripts, and no addresses. */
function toText(html: string): string {
  const spoken = [...html.matchAll(/\s(?:alt|aria-label|title|placeholder|content)="([^"]*)"/g)]
  const text = html.replace(/<(script|style)\b[\s\S]*?<\/\1>/g, ' ').replace(/<[^>]*>/g, ' ')
  return [text, ...spoken.map(([, words]) => words)].join(' ').replaceAll(/https?:\S+/g, '')
}
