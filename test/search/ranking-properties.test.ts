import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NO_SEARCH_WORDS } from '../../src/domain/derived/tables.ts'
import type { SearchQuery } from '../../src/domain/search/search-parameters.ts'
import {
  compareBrowsing,
  compareTies,
  rankMultiplier,
} from '../../src/domain/search/search-rank.ts'
import { readId } from '../../src/search/index/index-file.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { drawsOf } from '../support/long.ts'
import { indexOf as buildIndex, sampleDocument } from './search-samples.ts'

const WORDS = ['zorb', 'plin', 'quax', 'vlim', 'dorv', 'fenk']
const words = (max: number) =>
  fc.array(fc.constantFrom(...WORDS), { maxLength: max }).map((list) => list.join(' '))

const looks: fc.Arbitrary<Partial<SearchDocument>> = fc.record({
  name: words(3),
  summary: words(8),
  tags: fc.uniqueArray(fc.constantFrom(...WORDS), { maxLength: 2 }),
  kind: fc.constantFrom('http_api' as const, 'mcp_server' as const, 'a2a_agent' as const),
  categories: fc.subarray(['travel', 'llm_inference']),
  rails: fc.subarray(['x402', 'mpp']),
  sources: fc.subarray(['mcp_registry', 'bazaar']),
  has: fc.subarray(['openapi', 'llms_txt', 'agent_card']),
  minUsd: fc.option(fc.constantFrom(0, 0.01, 0.5, 2), { nil: null }),
  trustScore: fc.option(fc.integer({ min: 0, max: 100 }), { nil: null }),
  verifiedBuyers: fc.integer({ min: 0, max: 3 }),
  liveTested: fc.boolean(),
  remote: fc.boolean(),
})

const listings: fc.Arbitrary<SearchDocument[]> = fc
  .array(looks, { maxLength: 40 })
  .map((rows) => rows.map((row, at) => sampleDocument({ ...row, id: `mcp.n${at}` })))

const kits: fc.Arbitrary<SearchDocument[]> = fc
  .array(looks, { maxLength: 5 })
  .map((rows) =>
    rows.map((row, at) =>
      sampleDocument({ ...row, id: `kit.k${at}`, kind: 'kit', firstParty: true }),
    ),
  )

const filters: fc.Arbitrary<Partial<SearchQuery>> = fc.record(
  {
    kind: fc.constantFrom('http_api', 'mcp_server', 'kit'),
    category: fc.constantFrom('travel', 'llm_inference'),
    rail: fc.constantFrom('x402', 'mpp'),
    source: fc.constantFrom('mcp_registry', 'bazaar'),
    max_price_usd: fc.constantFrom(0, 0.01, 1),
    min_trust: fc.constantFrom(0, 30, 100),
    paid_only: fc.boolean(),
    has: fc.subarray(['openapi', 'agent_card'], { minLength: 1 }),
  },
  { requiredKeys: [] },
)

const requested = fc.record({ q: fc.option(words(4), { nil: undefined }), filters })
const page = { limit: 50, offset: 0 }
const known = { categories: ['travel', 'llm_inference'], sources: ['bazaar', 'mcp_registry'] }

function indexOf(documents: SearchDocument[]) {
  return buildIndex(documents, { ...known, words: NO_SEARCH_WORDS })
}

function ask(index: ReturnType<typeof indexOf>, query: Partial<SearchQuery>) {
  const { organic, firstParty } = searchIndex(index, { ...page, ...query })
  const named = (rows: typeof organic.rows) =>
    rows.map(({ row, relevance }) => ({ id: readId(index, row), relevance }))
  return {
    total: organic.total,
    results: named(organic.rows),
    own: named(firstParty.rows),
  }
}

function toQuery({ q, filters: chosen }: { q: string | undefined; filters: Partial<SearchQuery> }) {
  return q === undefined || q === '' ? chosen : { ...chosen, q }
}

function passesByHand(document: SearchDocument, query: Partial<SearchQuery>): boolean {
  return [
    query.kind === undefined || document.kind === query.kind,
    query.category === undefined || document.categories.includes(query.category),
    query.rail === undefined || document.rails.includes(query.rail),
    query.source === undefined || document.sources.includes(query.source),
    query.max_price_usd === undefined ||
      (document.minUsd !== null && document.minUsd <= query.max_price_usd),
    query.min_trust === undefined ||
      (document.trustScore !== null && document.trustScore >= query.min_trust),
    query.paid_only !== true || document.rails.length > 0,
    (query.has ?? []).every((file) => document.has.includes(file)),
  ].every(Boolean)
}

test('adding, removing or changing our own kits moves no organic position, score or total', () => {
  fc.assert(
    fc.property(listings, kits, kits, requested, (organic, some, others, given) => {
      const query = toQuery(given)
      const before = ask(indexOf([...organic, ...some]), query)
      const after = ask(indexOf([...others, ...organic]), query)
      expect(after.results).toEqual(before.results)
      expect(after.total).toBe(before.total)
    }),
    { numRuns: drawsOf(300) },
  )
})

test('our own kits are ranked apart and never stand among the results', () => {
  fc.assert(
    fc.property(listings, kits, requested, (organic, own, given) => {
      const { results, own: ours, total } = ask(indexOf([...organic, ...own]), toQuery(given))
      expect(results.every(({ id }) => id.startsWith('mcp.'))).toBe(true)
      expect(ours.every(({ id }) => id.startsWith('kit.'))).toBe(true)
      expect(total).toBeLessThanOrEqual(organic.length)
    }),
    { numRuns: drawsOf(200) },
  )
})

test('paying moves nothing: rails and prices change no text position or score', () => {
  fc.assert(
    fc.property(listings, words(3), fc.nat(), (organic, q, pick) => {
      fc.pre(organic.length > 0 && q !== '')
      const before = ask(indexOf(organic), { q })
      const paying = organic.map((document, at) =>
        at === pick % organic.length
          ? { ...document, rails: ['x402' as const], minUsd: 9 }
          : document,
      )
      expect(ask(indexOf(paying), { q }).results).toEqual(before.results)
    }),
    { numRuns: drawsOf(200) },
  )
})

test('filters keep exactly the listings they describe, alone and together', () => {
  fc.assert(
    fc.property(listings, filters, (organic, chosen) => {
      const { total, results } = ask(indexOf(organic), chosen)
      const expected = organic.filter((document) => passesByHand(document, chosen))
      expect(results.map(({ id }) => id)).toEqual(
        expected.toSorted(compareBrowsing).map(({ id }) => id),
      )
      expect(total).toBe(expected.length)
      for (const { id, relevance } of results) {
        const document = organic.find((other) => other.id === id)
        const factor = rankMultiplier(document?.trustScore ?? null, document?.liveTested ?? false)
        expect(relevance).toBeCloseTo(factor, 6)
      }
    }),
    { numRuns: drawsOf(300) },
  )
})

test('a filter on a text search drops rows and changes no score', () => {
  fc.assert(
    fc.property(listings, filters, words(3), (organic, chosen, q) => {
      fc.pre(q !== '')
      const index = indexOf(organic)
      const all = ask(index, { q }).results
      const kept = all.filter(({ id }) => {
        const document = organic.find((other) => other.id === id)
        return document !== undefined && passesByHand(document, chosen)
      })
      const { results, total } = ask(index, { ...chosen, q })
      expect(results).toEqual(kept)
      expect(total).toBe(kept.length)
    }),
    { numRuns: drawsOf(300) },
  )
})

test('results come in order of relevance behind those of exactly that name, and ties by trust, buyers and id', () => {
  fc.assert(
    fc.property(listings, words(3), (organic, q) => {
      fc.pre(q !== '')
      const { results } = ask(indexOf(organic), { q })
      const facts = new Map(organic.map((document) => [document.id, document]))
      const sorted = results.toSorted((a, b) => {
        const [left, right] = [facts.get(a.id), facts.get(b.id)]
        if (left === undefined || right === undefined) throw new Error('an unknown id came back')
        const exact = Number(right.name === q) - Number(left.name === q)
        return exact || b.relevance - a.relevance || compareTies(left, right)
      })
      expect(results).toEqual(sorted)
    }),
    { numRuns: drawsOf(200) },
  )
})

test('pages put together are the whole, whatever their size, and past the end there is nothing', () => {
  fc.assert(
    fc.property(listings, requested, fc.integer({ min: 1, max: 9 }), (organic, given, limit) => {
      const index = indexOf(organic)
      const query = toQuery(given)
      const whole = ask(index, query)
      const pages = Array.from({ length: Math.ceil(organic.length / limit) + 1 }, (_, at) =>
        ask(index, { ...query, limit, offset: at * limit }),
      )
      expect(pages.flatMap(({ results }) => results)).toEqual(whole.results)
      expect(pages.every(({ total }) => total === whole.total)).toBe(true)
      expect(ask(index, { ...query, offset: 999_999_999 }).results).toEqual([])
    }),
    { numRuns: drawsOf(200) },
  )
})
