import { HTTPFacilitatorClient } from '@x402/core/server'
import { withBazaar } from '@x402/extensions/bazaar'
import { describe, expect, test } from 'vitest'
import { serveFixture } from '../support/running-service.ts'

const running = serveFixture()

const bazaar = () => withBazaar(new HTTPFacilitatorClient({ url: running.url })).extensions.bazaar

async function read(path: string) {
  const response = await fetch(`${running.url}${path}`)
  return { status: response.status, json: await response.json() }
}

describe('the x402 discovery shape, read by its official client', () => {
  test('lists paid operations, with nothing to sign that only the seller may say', async () => {
    const { items, pagination } = await bazaar().listResources({ type: 'http', limit: 2 })
    expect(items).toHaveLength(2)
    expect(pagination.total).toBeGreaterThan(2)
    for (const item of items) {
      expect(item.accepts).toEqual([])
      expect(item.resource).toMatch(/^https:/)
    }
  })

  test('leads from page to page, with the search in the cursor', async () => {
    const requested = { query: 'weather', network: 'base' }
    const everything = await bazaar().search({ ...requested, limit: 100 })
    const first = await bazaar().search({ ...requested, limit: 1 })
    const cursor = first.pagination?.cursor ?? ''
    const second = await bazaar().search({ ...requested, limit: 1, cursor })
    const alone = await read(`/discovery/search?limit=1&cursor=${encodeURIComponent(cursor)}`)
    const found = [first, second].flatMap(({ resources }) => resources)
    expect(found).toEqual(everything.resources.slice(0, 2))
    expect(alone.json.resources).toEqual(second.resources)
  })

  test('a cursor of another search is refused', async () => {
    const { pagination } = await bazaar().search({ query: 'weather', limit: 1 })
    const cursor = encodeURIComponent(pagination?.cursor ?? '')
    for (const other of ['query=tides', 'query=weather&network=base', 'maxUsdPrice=1']) {
      const answer = await read(`/discovery/search?${other}&cursor=${cursor}`)
      expect([answer.status, answer.json.error]).toEqual([
        400,
        expect.stringContaining('same search'),
      ])
    }
  })
})

describe('filters judge what was published', () => {
  const ids = async (query: string) => {
    const { json } = await read(`/discovery/resources?${query}`)
    return json.items.map(
      ({ extensions }: { extensions: { directory: { listing_id: string } } }) =>
        extensions.directory.listing_id,
    )
  }
  test('by network, price, kind of resource and payee', async () => {
    expect(await ids('network=eip155:8453')).toContain('x402.weather')
    expect(await ids('network=base')).toEqual(await ids('network=eip155:8453'))
    expect(await ids('network=eip155:1')).toEqual([])
    expect(await ids('network=ethereum')).toEqual([])
    expect(await ids('maxUsdPrice=0.005')).toContain('x402.tide-tables')
    expect(await ids('maxUsdPrice=0.005')).not.toContain('x402.weather')
    expect(await ids('type=mcp')).toEqual([])
    expect(await ids('payTo=0x0000000000000000000000000000000000000000')).toEqual([])
  })

  test('q is another name of query', async () => {
    const [one, other] = await Promise.all(
      ['query', 'q'].map((name) => read(`/discovery/search?${name}=weather`)),
    )
    expect(other?.json.resources).toEqual(one?.json.resources)
    expect(other?.json.resources.length).toBeGreaterThan(0)
  })

  test.each([
    ['/discovery/resources?limit=0', /limit/],
    ['/discovery/resources?networks=x', /networks/],
    ['/discovery/resources?network=nowhere', /such as base/],
    ['/discovery/resources?maxUsdPrice=cheap', /US dollars/],
    ['/discovery/search?query=a&query=b', /more than once/],
    ['/discovery/search?cursor=abc', /cursor/],
    ['/discovery/search?cursor=20', /cursor/],
    ['/discovery/resources?offset=2147483648', /offset/],
  ])('%s is refused in its own form', async (path, error) => {
    const answer = await read(path)
    expect(answer.status).toBe(400)
    expect(answer.json).toEqual({ error: expect.stringMatching(error) })
  })
})
