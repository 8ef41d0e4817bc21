import { expect, test } from 'vitest'
import { FIELD_WEIGHTS } from '../../src/domain/search/search-rank.ts'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

interface Result {
  id: string
  relevance: number
  trust: { score: number | null }
  badges: string[]
}

async function search(query: string): Promise<{ results: Result[]; ranking: string }> {
  return (await fetch(`${waypost.url}/api/v1/search?${query}`)).json()
}

const factorOf = ({ trust, badges }: Result) =>
  (1 + (0.5 * (trust.score ?? 0)) / 100) * (badges.includes('live_tested') ? 1.1 : 1)

test('spec:search.1 a word in a name weighs three times, in a tag twice, in a summary once', async () => {
  expect(FIELD_WEIGHTS).toEqual({ name: 3, labels: 2, summary: 1 })
  const { results, ranking } = await search('q=weather')
  expect(ranking).toMatch(/name.*3.*tags.*2.*summary.*1/s)
  const textScoreOf = (id: string) => {
    const found = results.find((result) => result.id === id)
    return found === undefined ? 0 : found.relevance / factorOf(found)
  }
  // Once in the summary against name, tag and summary.
  expect(textScoreOf('x402.tide-tables')).toBeGreaterThan(0)
  expect(textScoreOf('x402.weather')).toBeGreaterThan(textScoreOf('x402.tide-tables'))
})

test('spec:search.2 without words relevance is the factor of trust and Live-Tested', async () => {
  const { results } = await search('limit=50')
  expect(results.some(({ trust }) => trust.score !== null)).toBe(true)
  expect(results.some(({ badges }) => badges.includes('live_tested'))).toBe(true)
  for (const result of results) expect(result.relevance).toBeCloseTo(factorOf(result), 5)
})

test('spec:search.3 our own kits move nobody: results are as if there were none', async () => {
  const { results } = await search('q=weather&limit=50')
  const outside = await search('q=weather&kind=http_api&limit=50')
  const others = results.filter(({ id }) => !id.startsWith('kit.'))
  expect(others).toEqual(results)
  expect(
    others
      .filter(({ id }) => /^(?:x402|api)\./.test(id))
      .map(({ id, relevance }) => [id, relevance]),
  ).toEqual(outside.results.map(({ id, relevance }) => [id, relevance]))
})

test('spec:search.4 a page is 20 from the start, and never more than 50', async () => {
  const response = await fetch(`${waypost.url}/api/v1/search`)
  expect((await response.json()).query).toMatchObject({ limit: 20, offset: 0 })
  const refused = await fetch(`${waypost.url}/api/v1/search?limit=51`)
  expect(refused.status).toBe(400)
  expect((await refused.json()).errors[0]).toMatchObject({ in: 'query', name: 'limit' })
})

test('spec:search.5 without words trust leads, then buyers, and unmeasured listings follow', async () => {
  const { results } = await search('limit=50')
  const scores = results.map(({ trust }) => trust.score ?? -1)
  expect(scores).toEqual(scores.toSorted((a, b) => b - a))
  expect(scores.at(-1)).toBe(-1)
})
