import { describe, expect, test } from 'vitest'
import { createFindOperations } from '../../functions/search/find-operations.ts'
import { type FoundOperation, toOperationEntries } from '../../src/domain/kit/found-operations.ts'
import { parseSearchParameters } from '../../src/domain/search/search-parameters.ts'
import { EFFECTS } from '../../src/domain/wire/vocabulary.ts'
import { readId } from '../../src/search/index/index-file.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { BASE_URL, toListing } from '../domain/listing-samples.ts'
import { catalogue, readOperationDocuments, readOperationIndex } from '../support/own-catalogue.ts'
import { indexOf, sampleDocument } from './search-samples.ts'

const operations = readOperationIndex()
const [BASE, TEMPO] = ['eip155:8453', 'eip155:4217']
const whole = new Map<string, FoundOperation['operation']>()
const find = createFindOperations({ release: () => ({ operations }) })

function answer(q: string, more = 'limit=5') {
  const found = find(`${new URLSearchParams({ q })}&${more}`)
  if ('problems' in found) throw new Error(JSON.stringify(found.problems))
  return found
}

/** Where there is no room, it is said by the example alone. */
const addressOf = ({ url, example }: FoundOperation['operation']) =>
  url ?? example?.url?.split('?')[0]

test.each([
  ['JSONRPC', true],
  ['GRPC', false],
])('an agent that takes %s has a message only where that is JSON-RPC', (binding, isJsonRpc) => {
  const skill = { id: 'dock', name: 'Docking', description: 'Docks a ship.' }
  const listing = toListing({
    facts: { kind: 'a2a_agent', pricing: { model: 'unknown' } },
    evidence: {
      interface: {
        ...{ at: '2026-11-01T00:00:00Z', from: 'agent_card' },
        server: { protocol: '1.0', url: 'https://agent.weather.example/a2a', binding },
        skills: [{ ...skill, examples: ['x'.repeat(300), 'Dock Ada'] }],
      },
    },
  })
  const [entry] = toOperationEntries(listing, BASE_URL)
  const text = JSON.stringify(entry?.found.operation)
  expect(text).toContain(`"${binding} 1.0"`)
  expect(text.includes('"text":"Dock Ada"')).toBe(isJsonRpc)
})

describe('what to call for a task', () => {
  test.each([
    ['address to coordinates', /geocod|nominatim.*\/search/, /reverse/],
    ['turn coordinates into an address', /reverse|regeo/, /forward/],
    ['Adresse in Koordinaten umwandeln', /geocod|nominatim.*\/search/, /reverse/],
    ['create a github issue', /create/, /list|get/],
    ['list open issues', /list|search/, /create/],
    ['check if a wallet is sanctioned', /aml|counterparty/, /balance/],
    ['transcribe a podcast', /transcri|speech_to_text/, /best_podcasts/],
    ['coffee shops in Lisbon', /place|business|openmart/, /COFFEE/],
  ])('%s: the first does that task', (q, right, wrong) => {
    const [{ operation } = expect.fail('nothing found')] = answer(q, 'limit=3').results
    const shown = `${operation.name} ${addressOf(operation)}`
    expect(shown).toMatch(right)
    expect(shown).not.toMatch(wrong)
  })

  test.each([
    ['search the web', /search/],
    ['generate an image', /image|generate/],
    ['scrape a web page', /scrap/],
    ['weather forecast', /forecast/],
    ['send an email', /send|mail/],
    ['create a calendar event', /create/],
    ['create a github issue', /create|write/],
    ['delete a calendar event', /delete/],
    ['price of a token', /token|price/],
    ['translate a text', /translate/],
  ])('%s', (q, url) => {
    const [best] = answer(q).results
    expect(`${best?.operation.name} ${best?.operation.url}`.toLowerCase()).toMatch(url)
    expect(best?.digest).toMatch(/^[\w-]{43}$/)
  })

  test.each([
    [
      'query a local Postgres database',
      {
        name: 'execute_sql',
        command: 'uvx postgres-mcp --access-mode=restricted',
        bring: ['env DATABASE_URI'],
      },
    ],
    ['configure the GitHub MCP server', { url: 'https://api.githubcopilot.com/mcp/' }],
    [
      'send an SMS',
      { example: { body: { to: ['<PHONE_NUMBER>'] } }, bring: ['header Authorization'] },
    ],
  ])('%s: all that its first call takes stands in the first row', (q, operation) => {
    expect(answer(q, 'limit=3').results[0]).toMatchObject({ operation })
  })

  test('weather forecast for a city: the first row forecasts, and asks for the city', () => {
    const [{ listing, operation } = expect.fail('nothing found')] = answer(
      'weather forecast for a city',
      'limit=3',
    ).results
    const { name, url, description, example, offers = [], bring = [] } = operation
    expect(`${name} ${url} ${description}`).toMatch(/weather|forecast/i)
    expect(JSON.stringify(example)).toContain('<CITY>')
    if (listing.auth === 'payment') expect(offers).not.toEqual([])
    if (listing.auth === 'api_key') expect(bring).not.toEqual([])
  })

  test.each([
    ['screenshot of https://example.com/pricing', /screenshot/],
    ['tools of weather.hugen.tokyo', /hugen/],
    ['search stripe.com customers', /stripe/],
  ])('%s: what is an argument steers nothing, and what may be a name does', (q, first) => {
    const [best] = answer(q).results
    expect(`${best?.listing.id} ${best?.operation.name} ${best?.operation.url}`).toMatch(first)
  })

  test('of one listing at most two stand among the first five', () => {
    for (const q of ['search', 'price', 'company data', 'image', 'send']) {
      const ids = answer(q).results.map(({ listing }) => listing.id)
      for (const id of ids)
        expect(ids.filter((other) => other === id).length, q).toBeLessThanOrEqual(2)
    }
  })

  test('pages follow each other without repeats', () => {
    const named = (more: string) =>
      answer('search', more).results.map(({ listing, operation }) => [
        listing.id,
        operation.name ?? addressOf(operation),
      ])
    expect([...named('limit=10'), ...named('limit=10&offset=10')]).toEqual(named('limit=20'))
  })

  test('what the words sound like a filter for is offered as one', () => {
    const q = 'weather in Berlin that I can pay with MPP'
    const { notes } = answer(q, 'limit=3')
    expect(notes.join()).toContain('rail=mpp leaves')
    const { results } = answer(q, 'limit=3&rail=mpp')
    expect(JSON.stringify(results[0]?.operation.example)).toMatch(/Berlin|52\.5/)
    for (const { operation } of results)
      expect(operation.offers?.map(({ rail }) => rail)).toContain('mpp')
  })

  test('rail, network and price are judged by the offers of each operation', () => {
    const requested = { rail: 'x402', network: 'base', max_price_usd: '0.01' }
    const { results, total } = answer('search', `${new URLSearchParams(requested)}&limit=20`)
    expect(results.length).toBe(Math.min(20, total))
    expect(results.length).toBeGreaterThan(3)
    for (const { operation, listing } of results)
      for (const offer of operation.offers ?? []) {
        expect(offer, listing.id).toMatchObject({ rail: 'x402', network: 'eip155:8453' })
        expect(offer.min_usd ?? operation.price?.min_usd, listing.id).toBeLessThanOrEqual(0.01)
      }
  })

  test.each(['x402', 'mpp'])('every row of rail=%s can be paid on it', (rail) => {
    const stated = new Set(
      catalogue.listings.flatMap(({ id, surface }) =>
        surface.operations.some(({ offers = [] }) => offers.length > 0) ? [id] : [],
      ),
    )
    const pages = [0, 20, 40, 60].flatMap((offset) => {
      const found = find(`rail=${rail}&limit=20&offset=${offset}`)
      return 'problems' in found ? [] : found.results
    })
    expect(pages.length).toBeGreaterThan(40)
    for (const { listing, operation } of pages)
      expect(
        operation.offers?.map((offer) => offer.rail),
        listing.id,
      ).toEqual(stated.has(listing.id) ? expect.arrayContaining([rail]) : undefined)
  })

  test.each(['', 'q=email&', 'q=request&rail=mpp&'])(
    'effect= says how many rows of %j it left out as unknown',
    (requested) => {
      const totalOf = (more: string) => {
        const found = find(`${requested}limit=1${more}`)
        if ('problems' in found) throw new Error(JSON.stringify(found.problems))
        return found
      }
      const known = EFFECTS.map((effect) => totalOf(`&effect=${effect}`))
      const unknown = totalOf('').total - known.reduce((sum, { total }) => sum + total, 0)
      expect(unknown).toBeGreaterThan(0)
      for (const { notes } of known)
        expect(notes.join(' ')).toContain(`leaves out ${unknown} more match`)
    },
  )

  test('what a call changes is a filter of operations alone', () => {
    for (const effect of ['read', 'write']) {
      const { results } = answer('email', `effect=${effect}&limit=20`)
      expect(results.length).toBeGreaterThan(3)
      const shown = results.map(({ operation }) => operation.effect)
      // A full answer leaves it out.
      expect(shown.filter((each) => each !== undefined && each !== effect)).toEqual([])
      expect(shown).toContain(effect)
    }
    expect(parseSearchParameters('effect=read', operations.filters)).toMatchObject({
      problems: [{ name: 'effect', allowed: expect.not.arrayContaining(['effect']) }],
    })
  })

  test('no operation passes by one offer’s rail and another’s price', () => {
    const sold = { rails: ['x402', 'mpp'] as const, networks: [BASE, TEMPO] }
    const offers = [
      { rail: 'x402' as const, network: BASE, minUsd: 0.02 },
      { rail: 'mpp' as const, network: TEMPO, minUsd: 0.005 },
    ]
    const other = { ...sold, minUsd: 0.005, rails: [...sold.rails] }
    const index = indexOf([
      sampleDocument({ id: 'x402.a', name: 'search', ...other, offers }),
      sampleDocument({ id: 'x402.b', name: 'search', ...other }),
    ])
    const ids = (filters: object) =>
      searchIndex(index, { q: 'search', limit: 5, offset: 0, ...filters }).organic.rows.map(
        ({ row }) => readId(index, row),
      )
    expect(ids({ rail: 'x402', max_price_usd: 0.01 })).toEqual(['x402.b'])
    expect(ids({ rail: 'x402', network: TEMPO })).toEqual(['x402.b'])
    expect(ids({ rail: 'mpp', max_price_usd: 0.01, network: TEMPO })).toEqual(['x402.a', 'x402.b'])
    expect(ids({ max_price_usd: 0.01 })).toEqual(['x402.a', 'x402.b'])
  })

  test('every row of a short answer keeps what its call needs', () => {
    for (const { id, body } of readOperationDocuments()) whole.set(id, JSON.parse(body).operation)
    const requested =
      'search the web;generate an image;send an email;weather forecast;scrape a page'
    for (const q of requested.split(';'))
      for (const { listing, operation } of answer(q, 'limit=3').results) {
        const stored = [...whole].find(
          ([id, { url, name }]) =>
            id.startsWith(`${listing.id}~`) &&
            url === addressOf(operation) &&
            name === operation.name,
        )?.[1]
        for (const member of ['offers', 'bring', 'price', 'command', 'protocol'])
          expect(member in operation, `${q} ${listing.id} ${member}`).toBe(member in (stored ?? {}))
        if ('input' in (stored ?? {}))
          expect('input' in operation || 'example' in operation, `${q} ${listing.id}`).toBe(true)
      }
  })

  test('filters are those of the search', () => {
    const { results } = answer('weather', 'rail=mpp')
    expect(results.length).toBeGreaterThan(0)
    for (const { listing } of results) expect(listing.id).toMatch(/^x402\./)
    expect(
      answer('weather', 'max_price_usd=0').results.every(
        ({ operation }) => operation.price === undefined || operation.price.min_usd === 0,
      ),
    ).toBe(true)
  })
})

test('five come unless something else is asked for', () => {
  const found = find('q=search')
  expect('results' in found && found.results).toHaveLength(5)
})

describe('messages are of operations', () => {
  test('bounds and names are its own', () => {
    expect(find('q=search&limit=0')).toMatchObject({
      problems: [{ name: 'limit', detail: expect.stringContaining('from 1 to 20') }],
    })
    expect(find('q=search&sort=price')).toMatchObject({
      problems: [{ name: 'sort', allowed: expect.not.arrayContaining(['sort', 'view', 'facets']) }],
    })
    expect(find('q=search&max_price=1')).toMatchObject({
      problems: [{ detail: 'unknown parameter; did you mean max_price_usd?' }],
    })
  })

  test('q is taken as query, but not both', () => {
    expect(find('query=weather')).toEqual(find('q=weather'))
    expect(find('query=weather&q=weather')).toMatchObject({
      problems: [{ detail: expect.stringContaining('as q or as query') }],
    })
  })

  test('notes count and name operations', () => {
    const { notes } = answer('zzqqxy weather api')
    expect(notes.join()).toContain('No operation matches “zzqqxy”')
    expect(notes.join()).toMatch(/The nearest category is \w+, with \d+ operations\./)
    expect(notes.join()).not.toMatch(/\blistings?\b/)
  })
})

test.each([
  'limit=21',
  'limit=0',
  'view=compact',
  'sort=price',
  'facets=kind',
  'nonsense=1',
  'kind=x',
])('%s is refused by its name', (query) => {
  expect(find(`q=search&${query}`)).toMatchObject({
    problems: [{ in: 'query', name: query.split('=')[0] }],
  })
})
