import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createSearch } from '../../functions/search/search.ts'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { loadSearchIndex } from '../../src/search/index/index-file.ts'
import { sampleDocument, textsOf } from '../search/search-samples.ts'
import { guardHang } from '../support/hang-guard.ts'

const index = loadSearchIndex(
  buildSearchIndex(
    [
      ...Array.from({ length: 60 }, (_, at) =>
        sampleDocument({ id: `x402.n${at}`, name: 'Weather', rails: ['x402'], minUsd: at / 100 }),
      ),
      sampleDocument({ id: 'kit.ours', name: 'Weather kit', kind: 'kit', firstParty: true }),
    ],
    { categories: ['travel'], sources: ['mcp_registry'] },
  ),
)
const search = createSearch({
  index: () => index,
  texts: () => textsOf(index, ['kit.ours', 'kit.gone', 'x402.n1']),
  randomUuid: randomUUID,
})

function answer(rawQuery: string) {
  const reply = search(rawQuery)
  if (reply.status !== 200) throw new Error(`400: ${JSON.stringify(reply.problems)}`)
  return JSON.parse(new TextDecoder().decode(reply.body))
}

function problemsOf(rawQuery: string) {
  const reply = search(rawQuery)
  return reply.status === 400 ? reply.problems : []
}

describe('what is refused, by name and with what is allowed', () => {
  test.each<[string, string, RegExp]>([
    ['limit=51', 'limit', /1 to 50/],
    ['limit=1000000000', 'limit', /1 to 50/],
    ['limit=0', 'limit', /1 to 50/],
    ['limit=-1', 'limit', /whole number/],
    ['limit=1.5', 'limit', /whole number/],
    ['limit=1e3', 'limit', /whole number/],
    ['limit=0x10', 'limit', /whole number/],
    ['limit=NaN', 'limit', /whole number/],
    ['limit=%EF%BC%91%EF%BC%90', 'limit', /whole number/],
    ['limit=', 'limit', /whole number/],
    ['limit=+5', 'limit', /whole number/],
    ...['-1', '1.5', '1e3', '%201', ''].map((offset): [string, string, RegExp] => [
      `offset=${offset}`,
      'offset',
      /whole number/,
    ]),
    ...['2147483648', '4294967296', '9007199254740991', '123456789012345678901234567890'].map(
      (offset): [string, string, RegExp] => [`offset=${offset}`, 'offset', /from 0 to 2147483647/],
    ),
    [`q=${'a'.repeat(1001)}`, 'q', /at most/],
    [`q=${'a'.repeat(15_000)}`, 'q', /at most/],
    ['kind=KIT', 'kind', /unknown value "KIT"/],
    ['rail=visa', 'rail', /unknown value/],
    ['has=openapi,evil', 'has', /unknown value "evil"/],
    ['has=', 'has', /unknown value/],
    ['facets=kind,colour', 'facets', /unknown value "colour"/],
    ['paid_only=maybe', 'paid_only', /unknown value/],
    ['category=nope', 'category', /unknown value/],
    ['source=__proto__', 'source', /unknown value/],
    ['max_price_usd=1e309', 'max_price_usd', /plain number/],
    ['max_price_usd=-1', 'max_price_usd', /plain number/],
    ['min_trust=101', 'min_trust', /0 to 100/],
    ['limit=5&limit=6', 'limit', /more than once/],
    ['q=a&q=b', 'q', /more than once/],
    ['page=2', 'page', /unknown parameter/],
    ['__proto__=1', '__proto__', /unknown parameter/],
    ['constructor=1', 'constructor', /unknown parameter/],
  ])('%s', (rawQuery, name, detail) => {
    const [problem, ...others] = problemsOf(rawQuery)
    expect(others).toEqual([])
    expect(problem).toMatchObject({ in: 'query', name, detail: expect.stringMatching(detail) })
  })

  test('an unknown value comes with the known ones', () => {
    expect(problemsOf('category=nope')[0]?.allowed).toEqual(['travel'])
    expect(problemsOf('rail=visa')[0]?.allowed).toEqual(['x402', 'mpp'])
  })

  test('1,200 parameters are answered with a few problems', () => {
    const flood = Array.from({ length: 1200 }, (_, at) => `p${at}=1`).join('&')
    expect(problemsOf(flood).length).toBe(8)
  })
})

describe('what is text and nothing else', () => {
  test.each([
    '(a+)+$',
    'NEAR(a b, 1000000)',
    '"unclosed',
    'name:a',
    'AND OR NOT',
    "'; DROP TABLE",
    '{{7*7}}',
    '__proto__',
    'constructor',
    'hasOwnProperty toString',
    '<script>alert(1)</script>',
    'a'.repeat(1000),
    'a '.repeat(256),
    `${'weather '.repeat(60)}`,
    '\u0301'.repeat(100),
    '\u202eevil',
    '\u0000',
    '👍'.repeat(400),
    `${'x'.repeat(50)}-`.repeat(10),
    ".-_'’".repeat(100),
    'A'.repeat(255) + 'b'.repeat(257),
    Array.from({ length: 100 }, (_, at) => `zq${at}`).join(' '),
    '天'.repeat(1000),
  ])('%j answers', (q) => {
    guardHang(() => {
      const { query, total, results } = answer(`q=${encodeURIComponent(q)}`)
      expect(query.q).toBe(q.trim())
      expect(results).toHaveLength(Math.min(total, 20))
    })
  })

  test('of a flood of words the first 128 are looked at, and the answer says so', () => {
    const words = (count: number) => Array.from({ length: count }, (_, at) => `zq${at}`).join('+')
    expect(answer(`q=${words(127)}+weather`).total).toBe(60)
    expect(answer(`q=${words(128)}+weather`).total).toBe(0)
    expect(answer(`q=${words(128)}+weather`).notes.join()).toContain(
      'first 128 words of the query; left out 1 more',
    )
  })

  test.each(['%ED%A0%80', '%C0%AF', '%FF', '%zz', '%00', '%E2%80%AE', '%'])(
    'the encoding q=%s answers',
    (encoded) => {
      expect(answer(`q=${encoded}`).results).toEqual([])
    },
  )
})

describe('the answer', () => {
  test('has every member the specification names', () => {
    expect(Object.keys(answer('q=weather')).sort()).toEqual(
      [
        'also_search',
        'attribution',
        'featured',
        'featured_first_party',
        'featured_label',
        'notes',
        'payments_enabled',
        'query',
        'ranking',
        'results',
        'search_id',
        'sponsored',
        'sponsored_policy',
        'total',
      ].sort(),
    )
  })

  test('echoes the filters applied, normalised, with limit and offset', () => {
    const raw =
      'has=agent_card,openapi,openapi&paid_only=1&q=%20weather%20&max_price_usd=.5&rail=x402'
    expect(answer(raw).query).toEqual({
      q: 'weather',
      rail: 'x402',
      max_price_usd: 0.5,
      paid_only: true,
      has: ['openapi', 'agent_card'],
      limit: 20,
      offset: 0,
    })
  })

  test('a q of blanks is not a q; a q without a word finds nothing and says so', () => {
    for (const q of ['', '%20', '+++', '%09%0A', '%E3%80%80'])
      expect(answer(`q=${q}`)).toMatchObject({ total: 60, query: { limit: 20, offset: 0 } })
    expect(answer('q=%3F')).toMatchObject({
      total: 0,
      results: [],
      notes: ['The query has no word to search for.'],
    })
  })

  test.each([1000, 1_000_000_000, 2_147_483_647])(
    'past the end, offset %s gives no results and the true total',
    (offset) => {
      for (const query of ['', 'q=weather&'])
        expect(answer(`${query}offset=${offset}`)).toMatchObject({
          ...{ results: [], total: 60, query: { offset } },
        })
    },
  )

  test('each result has its click-through link, counted within the results', () => {
    const { search_id: sid, results } = answer('q=weather&limit=2&offset=3')
    expect(results.map(({ links }: { links: { go: string } }) => links.go)).toEqual(
      results.map(
        ({ id }: { id: string }, at: number) => `/go/${id}?sid=${sid}&pos=${at + 1}&src=api`,
      ),
    )
  })

  test('our own kits stand apart, in the showcase only those that exist and are ours', () => {
    const { total, results, featured, featured_first_party } = answer('q=weather&limit=50')
    expect(total).toBe(60)
    expect(results.every(({ id }: { id: string }) => id.startsWith('x402.'))).toBe(true)
    expect(featured.map(({ id }: { id: string }) => id)).toEqual(['kit.ours'])
    expect(featured_first_party.map(({ id }: { id: string }) => id)).toEqual(['kit.ours'])
  })

  test('is fresh each time and kept by nobody', () => {
    expect(answer('q=weather').search_id).not.toBe(answer('q=weather').search_id)
    expect(search('').status === 200 && search('')).toMatchObject({
      headers: { 'Cache-Control': 'no-store' },
    })
  })
})
