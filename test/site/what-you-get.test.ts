import { describe, expect, test } from 'vitest'
import { toCallRows, toWhatYouGet } from '../../src/components/calls/call-rows.ts'
import { toStripFacts } from '../../src/components/rows/decision-facts.ts'
import { toKitView } from '../../src/domain/kit/kit-view.ts'
import type { TaskRow } from '../../src/domain/tasks/task.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import { BASE_URL, SAMPLE_FACTS, toListing, VIEW_CONTEXT } from '../domain/listing-samples.ts'

const AT = '2026-11-20T00:00:00Z'
const get = (more: object) => ({ method: 'GET', url: SAMPLE_FACTS.url, ...more })

function listingOf(facts: Record<string, unknown>, evidence: object = {}, tasks: TaskRow[] = []) {
  const listing = toListing({ facts, evidence, tasks })
  const view = toListingView(listing, VIEW_CONTEXT)
  return { view, kit: toKitView(listing, { baseUrl: BASE_URL, trust: view.trust }) }
}

describe('what a call gives', () => {
  const { pathname } = new URL(SAMPLE_FACTS.url)
  const toResponse = (example: unknown) => ({
    response: { content_type: 'application/json', example, ref: 'https://docs.shop.example/' },
  })
  test.each([
    [
      'the fields of its answer',
      [get(toResponse({ id: '1', results: [{ url: 'u' }] }))],
      ['id, results: url', `from GET ${pathname}`],
    ],
    [
      'at most three of them',
      [get(toResponse({ a: 1, b: 2, c: 3, d: 4 })), get({ url: `${SAMPLE_FACTS.url}/more` })],
      ['a, b, c, …', `from GET ${pathname}, 1 of 2 below`],
    ],
    [
      'a list of what is in it',
      [get(toResponse([{ name: 'n', price: 1 }]))],
      ['a list of name, price', `from GET ${pathname}`],
    ],
    [
      'what it says it does, where no answer is known',
      [get({ description: 'Tides of a place' })],
      ['Tides of a place', `from GET ${pathname}`, 'It does'],
    ],
  ])('is %s', (_, http, [value, note, label = 'You get']) => {
    expect(toWhatYouGet(listingOf({ http }).kit)).toMatchObject([
      { label, value, note, href: '#call-get-now' },
    ])
  })

  test.each([
    ['in the seller’s names', toResponse({ head: 1, organic: [] }), 'organic, head'],
    ['as its task says where no answer is known', {}, 'results: url, title'],
  ])('is of the call that is mapped to a task, which comes first: %s', (_, response, value) => {
    const task = 'web_search'
    const map = { query: 'q', results: 'organic[].{url: link, title: title}' }
    const search = get({
      ...response,
      url: `${SAMPLE_FACTS.url}/s`,
      task,
      map,
    })
    const http = [get(toResponse({ words: [] })), search, get({ url: `${SAMPLE_FACTS.url}/x` })]
    const properties = { results: { type: 'array' } }
    const tasks = [{ id: task, name: 'S', words: ['a', 'b'], output: { properties } }]
    const { kit } = listingOf({ http }, {}, tasks)
    const note = `from GET ${pathname}/s, 1 of 3 below`
    expect(toWhatYouGet(kit)).toMatchObject([{ value, note }])
    expect(toCallRows(kit)?.rows[0]).toMatchObject({ name: `${pathname}/s` })
    expect(kit.snippets.curl).toContain('endpoint=%2Fnow%2Fs')
    expect(kit.operations[1]?.result).toEqual({ results: map.results })
  })

  test('has no cell where nobody says it', () => {
    expect(toWhatYouGet(listingOf({ http: [get({})] }).kit)).toEqual([])
    expect(toWhatYouGet(listingOf({ http: [] }).kit)).toEqual([])
  })

  test('is the tools of a server, by their names, however long', () => {
    const tools = ['c'.repeat(200), 'a', 'b', 'd'].map((name) => ({
      ...{ name, description: 'x', input_schema: { type: 'object' } },
    }))
    const { kit } = listingOf(
      { kind: 'mcp_server', pricing: { model: 'unknown' } },
      { interface: { at: AT, from: 'mcp', tools } },
    )
    const [cell] = toWhatYouGet(kit)
    expect(cell?.value).toBe('4 tools')
    expect(cell?.note).toMatch(/^c{39}…, …$/)
  })

  test('says whose tools they are where the code connects to another server than was read', () => {
    const tools = [{ name: 'a', description: 'x', input_schema: { type: 'object' } }]
    const invoke = [
      { kind: 'mcp', transport: 'streamable-http', url: 'https://shop.example/mcp' },
      { kind: 'mcp_package', transport: 'stdio', registry: 'npm', identifier: 'shop-mcp' },
    ]
    const { kit, view } = listingOf(
      { kind: 'mcp_server', pricing: { model: 'unknown' }, invoke },
      { interface: { at: AT, from: 'mcp', tools } },
    )
    const note = 'a in its package; the hosted server’s were not read'
    expect(toWhatYouGet(kit, true)).toMatchObject([{ value: '1 tool', note }])
    expect(view.known.answers?.text).toContain('but its package’s description was read')
  })
})

test('each call after the first has a command of its own', () => {
  const other = get({ url: `${SAMPLE_FACTS.url}/other` })
  const { kit } = listingOf({ http: [get({}), other] })
  const calls = toCallRows(kit)?.rows.map(({ call }) => call)
  expect(calls).toEqual([null, expect.stringMatching(/^curl .*%2Fother'$/)])
})

describe('how a listing is paid', () => {
  const toCells = (networks: string[], auth: string) => {
    const pricing = { model: 'per_call', min_usd: 0.01, max_usd: 0.01, rails: ['x402'], networks }
    return JSON.stringify(toStripFacts(listingOf({ pricing, auth: { type: auth } }).view, []))
  }
  test('is said once: who pays needs no account and no key', () => {
    const text = toCells(['eip155:8453'], 'payment')
    expect(text).toContain('Base; no account, no key')
    expect(text).not.toContain('Access')
    expect(toCells(['eip155:8453'], 'api_key')).toContain('Access')
  })

  test('says the unit that all its prices share, and that some operations have none', () => {
    const price = { min_usd: 0.01, max_usd: 0.01, per: 'page' }
    const pricing = {
      model: 'per_call',
      min_usd: 0.01,
      max_usd: 0.01,
      rails: ['mpp'],
      networks: ['eip155:4217'],
    }
    const [other] = [get({ url: `${SAMPLE_FACTS.url}/other` })]
    const noteOf = (http: object[]) =>
      toStripFacts(listingOf({ pricing, http }).view, []).find(({ label }) => label === 'Price')
        ?.note
    expect(noteOf([get({ price })])).toBe('a page')
    expect(noteOf([get({ price }), { ...other, price: { ...price, per: 'call' } }])).toBe('a call')
    expect(noteOf([get({ price }), other])).toBe('a page, some not listed')
  })

  test('by its 402 alone: the price cell says so', () => {
    const facts = { pricing: { model: 'unknown' }, auth: { type: 'payment' } }
    expect(toStripFacts(listingOf(facts).view, [])).toContainEqual(
      expect.objectContaining({ label: 'Price', value: 'In its 402' }),
    )
  })

  test('not at all, as it follows from its access, or as its seller states', () => {
    const noteOf = (more: object) => {
      const facts = { pricing: { model: 'unknown' }, auth: { type: 'none' }, ...more }
      return toStripFacts(listingOf(facts).view, []).find(({ label }) => label === 'Price')?.note
    }
    expect(noteOf({})).toBe('it asks for no key and no payment')
    expect(noteOf({ cost: 'free' })).toBe('nothing is paid')
  })

  test('names five networks, and counts the others', () => {
    const all = ['8453', '137', '42161', '10', '43114', '1'].map((id) => `eip155:${id}`)
    expect(toCells(all, 'payment')).toMatch(/Base, Polygon.*Avalanche and 1 more/)
    expect(toCells(all.slice(0, 5), 'payment')).not.toContain('more')
  })
})

test('where the calls of a listing differ in their rails, each row and the strip name them', () => {
  const { url } = SAMPLE_FACTS
  const sold = (path: string, ...rails: string[]) => {
    const usd = { min_usd: 0.02, max_usd: 0.02 }
    const offers = rails.map((rail) => ({ rail, ...usd }))
    return get({ url: `${url}${path}`, price: { ...usd, per: 'call' }, offers })
  }
  const pricing = { ...SAMPLE_FACTS.pricing, rails: ['x402', 'mpp'] }
  const http = [sold('/a', 'mpp'), sold('/b', 'x402', 'mpp')]
  const { kit, view } = listingOf({ pricing, http })
  const tagsOf = (shown: typeof kit) =>
    toCallRows(shown)?.rows.map(({ tags }) => tags.map(({ text }) => text).join(' '))
  // The first call is one that most wallets can pay.
  expect(tagsOf(kit)).toEqual(['reads x402 mpp', 'reads mpp'])
  expect(tagsOf({ ...kit, operations: kit.operations.slice(0, 1) })).toEqual(['reads'])
  const strip = toStripFacts(view, []).find(({ label }) => label === 'Pays with')
  expect(strip?.note).toMatch(/^x402 for 1 of 2 calls, /)
})
