import { describe, expect, test } from 'vitest'
import {
  parseSearchForm,
  toApiQuery,
  toSearchPath,
} from '../../src/components/search/search-form.ts'
import { type Found, toSearchView } from '../../src/components/search/search-view.ts'

const parse = (query: string) => parseSearchForm(new URLSearchParams(query))

/** What a row says beside its name. */
const PLAIN = {
  kind: 'http_api' as const,
  summary: '',
  price: null,
  rails: [],
  trust: null,
  auth: 'none' as const,
}

describe('the form in the address', () => {
  test.each([
    ['empty fields are not filters', 'q=&kind=&rail=x402', { rail: 'x402' }],
    ['spaces around words do not count', 'q=+web+search+', { q: 'web search' }],
    ["others' parameters are left out", 'q=a&utm_source=mail&limit=50', { q: 'a' }],
    ['control characters are spaces', 'q=%00a%0Ab%7F', { q: 'a b' }],
    ['sorting is a field', 'sort=price', { sort: 'price' }],
  ])('%s', (_, query, form) => {
    expect(parse(query)).toEqual(form)
  })

  test('the search function gets the fields it knows, and 20 results are asked for', () => {
    expect(new URLSearchParams(toApiQuery(parse('q=a+b&utm=1&min_trust=40')))).toEqual(
      new URLSearchParams({
        view: 'compact',
        limit: '20',
        facets: 'kind,category,max_price_usd,rail,auth,runs,min_trust,source,network,task',
        q: 'a b',
        min_trust: '40',
      }),
    )
  })

  test.each([
    [{}, '/search'],
    [{ q: 'a&b', offset: '' }, '/search?q=a%26b'],
    [{ kind: 'http_api', runs: 'remote' }, '/search?kind=http_api&runs=remote'],
  ])('%o is the address %s', (form, path) => {
    expect(toSearchPath(form)).toBe(path)
  })
})

describe('what the page says of an answer', () => {
  const answer = {
    total: 45,
    results: Array.from({ length: 20 }, (_, index) => ({
      id: `api.row-${index}`,
      name: 'Row',
      ...PLAIN,
    })),
    notes: [],
    facets: { kind: [{ id: 'http_api', count: 40 }], category: [{ id: 'travel', count: 3 }] },
  } satisfies Found
  const names = new Map([['travel', 'Travel and transport']])
  const view = (query: string) => toSearchView(parse(query), answer, names)

  test('every filter that is set is a chip, whichever it is, and its path takes it away', () => {
    const { chips } = view('q=a&category=travel&max_price_usd=0.05&has=openapi&paid_only=true')
    expect(chips.map(({ text }) => text)).toEqual([
      'Travel and transport',
      'up to $0.05',
      'paid',
      'has openapi',
    ])
    expect(chips[0]?.path).toBe('/search?q=a&max_price_usd=0.05&paid_only=true&has=openapi')
  })

  test('a facet keeps the words and starts at the first page', () => {
    const kinds = view('q=a&offset=20').facets.find(({ label }) => label === 'Kind')
    expect(kinds?.options).toEqual([
      { text: 'HTTP API', count: 40, isActive: false, path: '/search?q=a&kind=http_api' },
    ])
  })

  test('pages lead back and on, and say where one is', () => {
    expect(view('q=a&offset=20')).toMatchObject({
      status: '21 to 40 of 45 services',
      previous: '/search?q=a',
      next: '/search?q=a&offset=40',
    })
  })

  test('far past the end it says so and leads back to the last results', () => {
    const past = toSearchView(parse('offset=9999'), { ...answer, results: [] }, names)
    expect(past).toMatchObject({
      status: '45 services, and none from 10000 on',
      previous: '/search?offset=25',
      next: null,
    })
  })
})

describe('notes of a search, for people', () => {
  const notesOf = (
    query: string,
    notes: string[],
    others: Pick<Found, 'suggested' | 'tasks'> = {},
  ) =>
    toSearchView(
      parse(query),
      { total: 0, results: [], notes, ...others, facets: {} },
      new Map([['travel', 'Travel and transport']]),
    ).notes.map((pieces) =>
      pieces
        .map((piece) => (typeof piece === 'string' ? piece : `[${piece.text}](${piece.path})`))
        .join(''),
    )

  test('say a parameter in words that lead there', () => {
    expect(
      notesOf(
        'q=trips+under+1+cent',
        [
          'Left out “under 1 cent”: max_price_usd=0.01 leaves 2 of these results.',
          'The nearest category is travel, with 3 listings.',
          'Left out “cheapest”: sort=price gives that order.',
        ],
        {
          suggested: [
            { parameters: { q: 'trips under 1 cent', max_price_usd: 0.01 }, total: 2 },
            { parameters: { category: 'travel' }, total: 3 },
            { parameters: { q: 'trips under 1 cent', sort: 'price' }, total: 4 },
          ],
        },
      ),
    ).toEqual([
      'Left out “under 1 cent”: [up to $0.01](/search?q=trips+under+1+cent&max_price_usd=0.01) leaves 2 of these results.',
      'The [nearest category is Travel and transport](/search?category=travel), with 3 listings.',
      'Left out “cheapest”: [sorting by price](/search?q=trips+under+1+cent&sort=price) gives that order.',
    ])
  })

  test('lead to the page of a task by its name', () => {
    const task = { id: 'weather', name: 'Weather', page: '/tasks/weather', sellers: 2, min_usd: 0 }
    const note = 'Left out “cheapest”: /tasks/weather has its services by price.'
    expect(notesOf('q=cheapest+weather', [note], { tasks: [task] })).toEqual([
      'Left out “cheapest”: [Weather](/tasks/weather) has its services by price.',
    ])
  })

  test('lead to the words that exist, to fewer filters and to the form', () => {
    expect(
      notesOf('q=zzz&kind=kit', [
        'Nothing was found. The closest words that listings have: “jazz”, “fizz”.',
        'No match passes the filters; without them there are 4.',
      ]),
    ).toEqual([
      'Nothing was found. The closest words that listings have: “[jazz](/search?q=jazz)”, “[fizz](/search?q=fizz)”.',
      'No match passes the filters; [without them there are](/search?q=zzz) 4.',
    ])
    expect(
      notesOf('q=new.dev', ['new.dev is not listed. Propose it at /report: an editor decides.']),
    ).toEqual([
      'new.dev is not listed. Propose it at [the form](/report?kind=new&about=new.dev): an editor decides.',
    ])
  })
})

describe('rows of one registered domain', () => {
  const printed = (domains: readonly (string | undefined)[]) => {
    const rows = domains.map((domain, at) => ({
      ...{ id: `api.${at}`, name: 'Row', ...PLAIN },
      ...(domain !== undefined && { domain }),
    }))
    return toSearchView({}, { total: 9, results: rows, notes: [] }, new Map()).hits.map((hit) =>
      'row' in hit
        ? hit.row.id
        : `${hit.rows.length} more from ${hit.domain}: ${hit.rows.map(({ id }) => id)}`,
    )
  }

  test('are folded behind the third of them, where the fourth was', () => {
    const [a, b] = ['a.example', 'b.example']
    expect(printed([a, b, a, a, a, b, b, a])).toEqual([
      ...['api.0', 'api.1', 'api.2', 'api.3', '2 more from a.example: api.4,api.7'],
      ...['api.5', 'api.6'],
    ])
  })

  test('of hosts that strangers share stay where they are', () => {
    expect(printed(Array.from({ length: 9 }, () => undefined))).toHaveLength(9)
  })

  test('are all open where there is nothing else, as in a directory of one company', () => {
    expect(printed(Array.from({ length: 9 }, () => 'a.example'))).toHaveLength(9)
  })
})
