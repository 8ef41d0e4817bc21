import { randomUUID } from 'node:crypto'
import { search as oramaSearch } from '@orama/orama'
import { describe, expect, test } from 'vitest'
import { createSearch } from '../../functions/search/search.ts'
import { readId } from '../../src/search/index/index-file.ts'
import { asRanked, listingDatabase } from '../../src/search/query/search-index.ts'
import { IS_LONG } from '../support/long.ts'
import { createDraws } from '../support/random.ts'
import { decode, indexOf, sampleDocument, textsOf } from './search-samples.ts'

const LISTINGS = IS_LONG ? 15_000 : 2_000
const QUERIES = IS_LONG ? 200 : 60
const random = createDraws(15_000)

/** Words by rank as in any text: the first ones stand in many listings, the last in few. */
const vocabulary = Array.from({ length: 4000 }, (_, at) => `w${at.toString(36)}q`)
const word = () => vocabulary[Math.floor(vocabulary.length * random.next() ** 3)] ?? ''
const text = (most: number) => Array.from({ length: 1 + random.below(most) }, word).join(' ')

const index = indexOf(
  Array.from({ length: LISTINGS }, (_, at) =>
    sampleDocument({
      id: `mcp.n${at}`,
      name: text(3),
      summary: text(20),
      tags: [text(1)],
      kind: at % 3 === 0 ? 'mcp_server' : 'http_api',
      minUsd: at % 5 === 0 ? (at % 70) / 100 : null,
      ...(at % 4 === 0 && { reportedCalls: (at * 7) % 90 }),
      trustScore: at % 8 === 0 ? at % 101 : null,
      liveTested: at % 11 === 0,
    }),
  ),
)
const search = createSearch({
  index: () => index,
  texts: () => textsOf(index),
  randomUuid: randomUUID,
  remembered: 0,
})

/** What the endpoint answers, and what Orama's own search answers on the same database. */
function answers(
  q: string,
  filters: Record<string, string>,
  params: { where?: object; limit?: number; offset?: number },
) {
  const reply = search(new URLSearchParams({ q, ...filters }).toString())
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.problems))
  const { results } = JSON.parse(decode(reply.body))
  const { orama } = listingDatabase(index)
  const found = oramaSearch(orama, { term: q, limit: 20, sortBy: asRanked, ...params })
  if (!('hits' in found)) throw new Error('Orama answered later')
  return {
    endpoint: results.map(({ id, relevance }: { id: string; relevance: number }) => [
      id,
      relevance,
    ]),
    orama: found.hits.map(({ id, score }) => [readId(index, Number(id)), score]),
  }
}

describe("Orama's own search on the served database gives what the endpoint answers", () => {
  test(`for ${QUERIES} queries over ${LISTINGS} listings`, () => {
    let rows = 0
    for (let at = 0; at < QUERIES; at += 1) {
      const { endpoint, orama } = answers(text(4), {}, {})
      expect(orama).toEqual(endpoint)
      rows += endpoint.length
    }
    expect(rows).toBeGreaterThan(QUERIES * 10)
  })

  test.each([
    [
      'a filter',
      { kind: 'mcp_server' },
      { where: { values: { containsAll: ['kind:mcp_server'] } } },
    ],
    ['a price', { max_price_usd: '0.3' }, { where: { min_usd: { lte: 0.3 } } }],
    ['a page', { limit: '7', offset: '13' }, { limit: 7, offset: 13 }],
  ])('with %s', (_name, filters, params) => {
    for (const q of [vocabulary[0] ?? '', `${vocabulary[3]} ${vocabulary[40]}`, text(3)]) {
      const { endpoint, orama } = answers(q, filters, params)
      expect(orama).toEqual(endpoint)
    }
  })
})
