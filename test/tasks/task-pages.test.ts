import { expect, test } from 'vitest'
import { toCompareView } from '../../src/domain/compare/compare-view.ts'
import { tasksOf } from '../../src/domain/derived/derived-listing.ts'
import { toOperationEntries } from '../../src/domain/kit/found-operations.ts'
import { toTaskOffers, toTaskPages } from '../../src/domain/plans/task-offers.ts'
import { catalogue } from '../support/own-catalogue.ts'
import { listings, SELLERS, tables } from './own-catalogue.ts'

const { sources, byId, ledger, baseUrl } = catalogue
const context = {
  ...{ baseUrl, site: tables.site, sources, listings: byId },
  ...{ tasks: [], demand: ledger.demand },
}

const pages = toTaskPages(
  tables.tasks,
  listings.flatMap((listing) =>
    toTaskOffers(listing, toOperationEntries(listing, baseUrl), { tasks: tables.tasks, baseUrl }),
  ),
)

test('a section with a task has every listing that does it without an account', () => {
  const page = catalogue.pages.find(({ slug }) => slug === 'paid-web-search')
  if (page === undefined) throw new Error('expected the page paid-web-search')
  const { sections } = toCompareView(page.slug, page.facts, context)
  const [search] = sections
  const doing = listings.filter(
    ({ surface, facts }) =>
      surface.operations.some(({ task }) => task === 'web_search') &&
      ['none', 'payment'].includes(facts.auth.type),
  )
  expect(doing.length).toBeGreaterThan(5)
  expect(search?.rows.map(({ id }) => id).sort()).toEqual(doing.map(({ id }) => id).sort())
  const focus = new Map(search?.rows.map((row) => [row.id, row.focus]))
  expect(focus.get('x402.x402atlas-websearch')).toBe('dedicated')
  expect(focus.get('x402.stableenrich')).toBe('broad')
})

test('a mapped operation stands for its listing before a cheaper one, and a raised price is its price', () => {
  const listing = listings.find(({ id }) => id === 'x402.brave-mpp')
  if (listing === undefined) throw new Error('expected the listing x402.brave-mpp')
  const offerOf = (doing: typeof listing) =>
    toTaskOffers(doing, toOperationEntries(doing, baseUrl), { tasks: tables.tasks, baseUrl }).find(
      ({ task }) => task === 'web_answer',
    )?.offer
  const listed = offerOf(listing)
  expect(listed).toMatchObject({
    operation: expect.stringContaining('/brave/answers'),
    planned: true,
  })
  const usd = (listed?.usd ?? 0) + 1
  const seen = { at: '2026-11-01T00:00:00Z', outcome: 'spoke', min_usd: usd } as const
  const operations = listing.surface.operations.map((each) => ({ ...each, seen }))
  const raised = offerOf({ ...listing, surface: { ...listing.surface, operations } })
  expect(raised?.usd).toBe(usd)
  expect(raised?.price).toContain(`listed at ${listed?.price}`)
})

test('a paid call that takes an id of an earlier one is named only where there is no first call', () => {
  const offerOf = (task: string, id: string) =>
    pages.find((page) => page.id === task)?.offers.find(({ listing }) => listing.id === id)
  expect(offerOf('vehicle_lookup', 'x402.apex-db')).toMatchObject({ usd: 0.1 })
  expect(offerOf('vehicle_lookup', 'x402.apex-db')).not.toHaveProperty('needs')
  expect(offerOf('send_email', 'x402.agentmail')).toMatchObject({ needs: 'inbox_id' })
  const { offers = [] } = pages.find(({ id }) => id === 'send_email') ?? {}
  const ids = offers.map(({ listing }) => listing.id)
  expect(ids.indexOf('x402.agentmail')).toBeGreaterThan(ids.indexOf('x402.stableemail'))
  // Alone it is no lowest price of the task.
  const later = offers.filter(({ needs }) => needs !== undefined)
  const offered = later.map((offer) => ({ task: 'send_email', offer }))
  const [page] = toTaskPages(
    tables.tasks.filter(({ id }) => id === 'send_email'),
    offered,
  )
  expect(page).toMatchObject({ sellers: later.length, min_usd: null })
})

test('everybody whom a search by a task finds stands on its page, and a plan where it has rows', () => {
  for (const { id, offers } of pages) {
    const doing = listings.filter(
      (listing) => tasksOf(listing).includes(id) && !listing.facts.first_party,
    )
    expect(offers.map(({ listing }) => listing.id).sort()).toEqual(doing.map(({ id }) => id).sort())
    expect([id, offers.some(({ planned }) => planned)]).toEqual([
      id,
      SELLERS.some(({ task }) => task === id),
    ])
  }
  expect(
    pages.find(({ id }) => id === 'translation')?.offers.map(({ listing }) => listing.id),
  ).toContain('mcp.lara-translate')
})

test('a call whose result another call brings names that call', () => {
  const nextOf = (task: string, seller: string) =>
    pages.find(({ id }) => id === task)?.offers.find(({ listing }) => listing.id === seller)?.next
  const captcha = 'https://twocaptcha.mpp.tempo.xyz/getTaskResult'
  expect(nextOf('captcha', 'x402.twocaptcha-mpp')).toBe(`POST ${captcha}`)
  expect(nextOf('phone_call', 'api.vapi')).toBe('GET https://api.vapi.ai/call/{id}')
  // What it returns is the id that it was given.
  expect(nextOf('rpc_call', 'x402.quicknode')).toBeUndefined()
  const all = pages.flatMap(({ offers }) => offers.flatMap(({ next }) => next ?? []))
  expect(new Set(all).size).toBeLessThan(9)
})

test('what has no price of its own costs what its listing says, in the same words', () => {
  const offers = pages.find(({ id }) => id === 'weather')?.offers ?? []
  const prices = new Map(offers.map(({ listing, price }) => [listing.id, price]))
  expect(prices.get('api.openweathermap')).toBe('free to start')
  expect(prices.get('mcp.weather-isdaniel')).toBe('free to run')
  expect(prices.get('mcp.openweather-schneider')).toBe('your own account')
  expect(prices.get('x402.openweather-mpp')).toBe('$0.006')
})

test.each([
  // Mapped to the task, then not paying, then cheapest.
  ['weather', 'x402.openweather-mpp', /current-weather$/],
  ['email_inbox', 'x402.agentmail', /\/v0\/inboxes$/],
  // Of tools that cost the same, the one that is named most like the task and undoes nothing.
  ['payments_take', 'mcp.stripe', /^create_payment_link$/],
  ['ci_builds', 'mcp.github', /^run_workflow$/],
  ['document_write', 'mcp.basic-memory', /^write_note$/],
  ['issue_create', 'mcp.monday', /^create_item$/],
])('%s is done at %s by %s', (task, listing, operation) => {
  const offers = pages.find(({ id }) => id === task)?.offers ?? []
  expect(offers.find((offer) => offer.listing.id === listing)?.operation).toMatch(operation)
})

test('listed rows stand beside those of the task, each once', () => {
  const page = catalogue.pages.find(({ slug }) => slug === 'web-page-extraction')
  if (page === undefined) throw new Error('expected the page web-page-extraction')
  const rows = toCompareView(page.slug, page.facts, context).sections[1]?.rows ?? []
  expect(rows.map(({ id }) => id)).toContain('a2a.anybrowse')
  expect(rows.map(({ id }) => id)).toContain('x402.firecrawl-mpp')
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
})
