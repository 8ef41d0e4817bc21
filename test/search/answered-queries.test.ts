import { expect, test } from 'vitest'
import { createSearch } from '../../functions/search/search.ts'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { loadSearchIndex } from '../../src/search/index/index-file.ts'
import { sampleDocument, textsOf } from './search-samples.ts'

const indexOf = (...names: string[]) =>
  loadSearchIndex(
    buildSearchIndex(names.map((name, at) => sampleDocument({ id: `mcp.n${at}`, name }))),
  )

function answersOf(index: () => ReturnType<typeof indexOf>, remembered?: number) {
  let searches = 0
  const shown: (readonly number[])[] = []
  const search = createSearch({
    index,
    texts: () => textsOf(index()),
    randomUuid: () => {
      searches += 1
      return `00000000-0000-4000-8000-${String(searches).padStart(12, '0')}`
    },
    onShown: (_, rows) => shown.push(rows.map(({ row }) => row)),
    ...(remembered !== undefined && { remembered }),
  })
  const ask = (query: string) => {
    const reply = search(query)
    if (reply.status !== 200) return { status: 400 }
    return { status: 200, ...JSON.parse(new TextDecoder().decode(reply.body)) }
  }
  return { ask, shown }
}

test('a query asked again has the same results under a search id of its own', () => {
  const index = indexOf('zorb', 'zorb plin')
  const { ask, shown } = answersOf(() => index)
  const [first, ...others] = [ask('q=zorb'), ask('q=zorb'), ask('q=zorb')]
  for (const other of others) {
    expect(other.search_id).not.toBe(first.search_id)
    expect(JSON.stringify(other)).toBe(
      JSON.stringify(first).replaceAll(first.search_id, other.search_id),
    )
  }
  expect(shown).toHaveLength(3)
  expect(shown[2]).toEqual(shown[0])
})

test('remembering changes no answer', () => {
  const index = indexOf('zorb', 'zorb plin', 'murp')
  const [with2, without] = [answersOf(() => index, 2), answersOf(() => index, 0)]
  for (const query of [
    'q=zorb',
    'q=plin',
    'q=murp',
    'q=zorb',
    'limit=0',
    'q=plin',
    'limit=0',
    'q=zorb&limit=1',
  ])
    expect(with2.ask(query)).toEqual(without.ask(query))
})

test('another index forgets what the one before answered', () => {
  let serving = indexOf('zorb')
  const { ask } = answersOf(() => serving)
  expect(ask('q=zorb').total).toBe(1)
  serving = indexOf('zorb', 'zorb plin')
  expect(ask('q=zorb').total).toBe(2)
})
