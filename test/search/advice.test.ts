import { describe, expect, test } from 'vitest'
import { readId } from '../../src/search/index/index-file.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { indexOf, sampleDocument } from './search-samples.ts'

const index = indexOf(
  [
    sampleDocument({
      id: 'a2a.trips',
      name: 'Travel agent',
      kind: 'a2a_agent',
      summary: 'Books travel.',
    }),
    sampleDocument({
      id: 'x402.travel',
      name: 'Travel data',
      categories: ['travel'],
      minUsd: 0.005,
      maxUsd: 0.005,
      networks: ['eip155:8453'],
      auth: 'payment',
    }),
    sampleDocument({
      id: 'x402.travel-2',
      name: 'Travel prices',
      categories: ['travel'],
      minUsd: 2,
      maxUsd: 2,
    }),
    sampleDocument({ id: 'mcp.agent', name: 'Agent of agents', summary: 'A2A for everybody.' }),
    sampleDocument({
      id: 'x402.other',
      name: 'Tuxedos by travel post',
      summary: 'Once travel.',
      minUsd: 0.001,
      maxUsd: 0.001,
    }),
  ],
  { categories: ['travel', 'web_search'] },
)
const search = (q: string, more: object = {}) =>
  searchIndex(index, { q, limit: 10, offset: 0, ...more })
const ids = (q: string, more: object = {}) =>
  search(q, more).organic.rows.map(({ row }) => readId(index, row))

describe('words that sound like a filter', () => {
  test.each([
    ['A2A agent that books travel', { kind: 'a2a_agent' }, 1],
    ['travel data under one cent', { max_price_usd: 0.01 }, 2],
    ['travel data for at most $0.005 a call', { max_price_usd: 0.005 }, 2],
    ['travel for less than 5 cents per call', { max_price_usd: 0.05 }, 2],
    ['travel prices on base', { network: 'eip155:8453' }, 1],
    ['travel without an account', { auth: 'no_account' }, 1],
  ])('%s', (q, parameters, total) => {
    const found = search(q)
    expect(found.suggested[0]).toMatchObject({ parameters: { q, ...parameters }, total })
    expect(
      searchIndex(index, { limit: 10, offset: 0, ...found.suggested[0]?.parameters }).organic.total,
    ).toBe(total)
    expect(found.notes.join()).toMatch(/Left out “.+”: \w+=\S+ leaves \d+ of these results\./)
  })

  test('put first what meets them among the most relevant, and filter nothing', () => {
    const priced = (id: string, name: string, usd: number) =>
      sampleDocument({ id, name, minUsd: usd, maxUsd: usd, networks: ['eip155:8453'] })
    const offers = indexOf([
      { ...priced('api.best', 'Travel prices', 2), networks: [] },
      priced('api.near', 'Travel prices and more', 0.005),
      priced('api.far', 'A long name of many words beside travel', 0.001),
    ])
    const order = (q: string) =>
      searchIndex(offers, { q, limit: 9, offset: 0 }).organic.rows.map(({ row }) =>
        readId(offers, row),
      )
    expect(order('travel prices')).toEqual(['api.best', 'api.near', 'api.far'])
    expect(order('travel prices under one cent')).toEqual(['api.near', 'api.best', 'api.far'])
    // What is paid on a network is not what works with it.
    expect(order('travel prices on base')[0]).toBe('api.best')
  })

  test('are left out of the score', () => {
    expect(ids('A2A agent that books travel')).not.toContain('mcp.agent')
  })

  test('are never offered where nothing is left', () => {
    const { suggested, notes } = search('travel over mpp')
    expect(suggested).toEqual([])
    expect(notes).toContain('Left out “over mpp”: it would leave no results.')
  })

  test('two of them are also offered together', () => {
    const { suggested } = search('travel on base under one cent')
    expect(suggested.map(({ total }) => total)).toEqual([1, 1, 2])
    expect(suggested[0]?.parameters).toMatchObject({ network: 'eip155:8453', max_price_usd: 0.01 })
  })
})

describe('a word that no listing has', () => {
  test('is told, with the nearest category', () => {
    const { notes, suggested } = search('travel with a harpsichord')
    expect(notes).toContain('No listing matches “harpsichord”.')
    expect(notes).toContain('The nearest category is travel, with 2 listings.')
    expect(suggested).toEqual([{ parameters: { category: 'travel' }, total: 2 }])
  })
})

test('a sorted question has first what answers it', () => {
  expect(ids('travel data', { sort: 'price' })[0]).toBe('x402.travel')
  expect(search('travel data', { sort: 'price' }).notes.join()).toMatch(
    /lowest price of any of their calls.*half as relevant/,
  )
})

test('a rare word of an operation finds its listing, and no other operation of it', () => {
  const listing = sampleDocument({ id: 'mcp.voice', name: 'Voice', operations: ['Removes noise'] })
  const texts = { name: ['speak'], labels: ['Voice'], summary: ['Says a text.'] }
  const found = (document: typeof listing) =>
    searchIndex(indexOf([document]), { q: 'noise', limit: 1, offset: 0 }).organic.total
  expect(found(listing)).toBe(1)
  expect(found({ ...listing, id: 'mcp.voice~0', texts })).toBe(0)
})
