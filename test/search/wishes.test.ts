import { describe, expect, test } from 'vitest'
import { createFindOperations } from '../../functions/search/find-operations.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { findIn, indexOf, sampleDocument } from './search-samples.ts'

const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const listing = (id: string, name: string, summary = '') => sampleDocument({ id, name, summary })
const index = indexOf([
  listing('mcp.jira', 'Jira', 'Issue tracker and tickets.'),
  listing('mcp.jira-cloud', 'Jira Cloud', 'Issue tracker of a team, with tickets.'),
  listing('mcp.linear', 'Linear', 'Issue tracker, an import from Jira.'),
  listing('mcp.bing', 'Bing Search', 'Search the web.'),
  listing('mcp.google', 'Google Search', 'Search the web.'),
  listing('mcp.brave', 'Brave Search', 'Search the web, with images.'),
  listing('mcp.scan', 'Scan', 'Numbers out of a picture.'),
  listing('mcp.numbers', 'Numbers', 'Numbers of reports, no scan is needed.'),
])

describe('who asks for others', () => {
  test.each([
    ['issue tracker instead of Jira', ['mcp.linear']],
    ['issue tracker without jira', ['mcp.linear']],
    ['an alternative to Jira', ['mcp.linear']],
    ['search the web but not with Google', ['mcp.brave', 'mcp.bing']],
    ['search the web, not Google or Bing', ['mcp.brave']],
  ])('%s', (q, expected) => {
    const { ids, notes } = findIn(index, q, 5)
    expect(ids).toEqual(expect.arrayContaining(expected))
    for (const unwanted of ['mcp.jira', 'mcp.jira-cloud', 'mcp.google'])
      if (!q.includes('Bing') || unwanted !== 'mcp.jira') expect(ids).not.toContain(unwanted)
    expect(notes[0]).toMatch(/^Left out the .* because the question asks for other sellers\.$/)
  })

  test('is told how many are left out, and the total counts none of them', () => {
    const { organic, notes } = searchIndex(index, {
      q: 'issue tracker not Jira',
      limit: 5,
      offset: 0,
    })
    expect(organic.total).toBe(1)
    expect(notes).toContain(
      'Left out the 2 listings named “jira”, because the question asks for other sellers.',
    )
  })

  test('a thing that is not somebody’s name excludes nobody', () => {
    expect(findIn(index, 'search the web without images').ids).toContain('mcp.brave')
    expect(findIn(index, 'numbers instead of a needed').ids).toContain('mcp.numbers')
  })

  test('a wish for no key is a filter to follow, and excludes nobody named after an API', () => {
    const own = indexOf([
      listing('api.sky', 'Sky API', 'Weather.'),
      listing('api.rain', 'Rain', 'Weather.'),
    ])
    for (const q of ['weather with no api key', 'weather without an api key']) {
      const { ids, notes } = findIn(own, q, 5)
      expect(ids).toContain('api.sky')
      expect(notes.join()).not.toContain('other sellers')
    }
  })
})

describe('a network', () => {
  const documents = [
    sampleDocument({ id: 'x402.pay', name: 'Token prices', networks: [SOLANA], rails: ['x402'] }),
    listing('mcp.solana', 'Solana token prices'),
    listing('mcp.eth', 'Ethereum gas', 'Fees of Ethereum.'),
  ]
  const own = indexOf(documents, { networks: [SOLANA, 'eip155:1'] })

  test('that some match takes payment on is a filter to follow', () => {
    const { suggested } = searchIndex(own, { q: 'token prices on solana', limit: 5, offset: 0 })
    expect(suggested[0]?.parameters.network).toBe(SOLANA)
  })

  test('a word that names the task is no filter', () => {
    const { notes } = searchIndex(own, { q: 'is this domain name still free', limit: 5, offset: 0 })
    expect(notes.join(' ')).not.toContain('“free”')
  })
})

describe('what is done', () => {
  const task = (at: number, name: string, effect: 'read' | 'write' | 'delete' | 'pay') => {
    const id = `mcp.a${at}~0`
    const shown = { listing: { id: `mcp.a${at}` }, digest: '', operation: { name, effect } }
    return sampleDocument({
      id,
      kind: 'mcp_server',
      name,
      effect,
      texts: { name: [name], labels: [], summary: [] },
      body: JSON.stringify({ id, ...shown }),
    })
  }
  const operations = indexOf(
    [
      task(1, 'tweet', 'write'),
      task(2, 'search tweet', 'read'),
      task(3, 'delete tweet', 'delete'),
      task(4, 'tip the tweet', 'pay'),
    ],
    { noun: 'operation' },
  )
  const find = createFindOperations({ release: () => ({ operations }) })
  const ask = (q: string) => {
    const found = find(`${new URLSearchParams({ q })}`)
    if ('problems' in found) throw new Error(JSON.stringify(found.problems))
    return { ...found, effects: found.results.map(({ operation }) => operation.effect) }
  }

  test.each([
    ['read a tweet', 'read'],
    ['get the tweet of somebody', 'read'],
    ['post a tweet', 'write'],
    ['send this tweet', 'write'],
    ['delete a tweet', 'delete'],
    ['tip for a tweet', 'pay'],
  ])('%s is answered by what does that', (q, effect) => {
    expect(ask(q).effects[0]).toBe(effect)
  })

  test('a thing behind an article is no verb', () => {
    expect(ask('read the order of a tweet').effects[0]).toBe('read')
  })

  test('a word that no operation has is told first', () => {
    expect(ask('read a harpsichord tweet').notes[0]).toContain('“harpsichord”')
    const [first] = ask('tweet paid with mpp').notes
    expect(first).toBe('Left out “paid with mpp”: it would leave no results.')
  })
})

test('a long question is answered by all its words, those that belong together first', () => {
  const words = 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu'.split(' ')
  const long = indexOf([
    ...Array.from({ length: 3 }, (_, at) => listing(`mcp.core${at}`, 'Alpha beta gamma delta')),
    listing('mcp.most', 'Alpha beta gamma delta', words.join(' ')),
    listing('mcp.kappa', 'Kappa', 'lambda'),
  ])
  const story = words.map((word) => `${word} of the`).join(' ')
  for (const [q, leavesOut] of [[story, true] as const, [words.join(' '), false] as const]) {
    const { ids, notes } = findIn(long, q)
    expect(ids[0]).toBe('mcp.most')
    expect(ids).toContain('mcp.kappa')
    // Where more than half of the words say something, no story stands around the task.
    expect(notes.join().includes('its other words count less'), q).toBe(leavesOut)
  }
})
