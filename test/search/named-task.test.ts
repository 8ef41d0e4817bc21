import { describe, expect, test } from 'vitest'
import { NO_SEARCH_WORDS } from '../../src/domain/derived/tables.ts'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { loadSearchIndex, readId } from '../../src/search/index/index-file.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { findIn, indexOf, sampleDocument } from './search-samples.ts'

const TASKS = [{ id: 'geocoding', name: 'Geocoding', words: ['address to coordinates', 'geocode'] }]
const documents = [
  sampleDocument({
    id: 'api.both',
    name: 'Address coordinates',
    tags: ['address coordinates'],
    summary: 'coordinates address',
  }),
  // They make the task common and its words rare, so that naming it counts less than they do.
  ...Array.from({ length: 8 }, (_, at) =>
    sampleDocument({ id: `api.far-${at}`, name: 'Far', tasks: ['geocoding'] }),
  ),
  sampleDocument({
    id: 'api.doing',
    name: 'Address finder',
    summary: 'address, coordinates',
    tasks: ['geocoding'],
  }),
  sampleDocument({ id: 'api.weak', name: 'Weather', summary: 'an address', tasks: ['geocoding'] }),
  ...Array.from({ length: 20 }, (_, at) =>
    sampleDocument({ id: `api.other-${at}`, name: 'Other' }),
  ),
]
const index = loadSearchIndex(
  buildSearchIndex(documents, { words: { ...NO_SEARCH_WORDS, tasks: TASKS } }),
)
const find = (q: string, limit = 10) => {
  const { task, organic, explained } = searchIndex(index, { q, limit, offset: 0, explain: true })
  return {
    task,
    ids: organic.rows.map(({ row }) => readId(index, row)),
    relevances: organic.rows.map(({ relevance }) => relevance),
    explained: explained?.organic.map((each) => each.task),
  }
}

test('listings that do the named task come first among rows at least half as relevant as the best', () => {
  const { task, ids, relevances, explained } = find('address to coordinates')
  expect(task).toBe('geocoding')
  expect(ids.slice(0, 2)).toEqual(['api.doing', 'api.both'])
  // It is an order: the relevance stays that of the formula.
  expect(relevances[0]).toBeLessThan(relevances[1] ?? 0)
  expect(explained?.slice(0, 2)).toEqual(['geocoding', undefined])
  // A page of one row is the first of all rows.
  expect(find('address to coordinates', 1).ids).toEqual(['api.doing'])
})

test('a row with all words of a question that says more than its task stays before what does the task', () => {
  const more = [
    ...documents,
    sampleDocument({ id: 'api.moon', name: 'Moon coordinates', summary: 'address moon' }),
    sampleDocument({ id: 'api.part', name: 'Moon', summary: 'moon moon moon address moon' }),
  ]
  const words = { ...NO_SEARCH_WORDS, tasks: TASKS }
  const asked = loadSearchIndex(buildSearchIndex(more, { words }))
  const idsOf = (q: string) =>
    searchIndex(asked, { q, limit: 3, offset: 0 }).organic.rows.map(({ row }) => readId(asked, row))
  expect(idsOf('address to coordinates moon')[0]).toBe('api.moon')
  expect(idsOf('address to coordinates')[0]).toBe('api.doing')
  // Where nobody who does the task is nearly as relevant, the order is that of relevance.
  const weak = more.flatMap((each) =>
    each.id === 'api.doing' ? [] : [{ ...each, tags: ['moon'] }],
  )
  const both = weak.map((each) => (each.id === 'api.both' ? { ...each, tags: [] } : each))
  const without = loadSearchIndex(buildSearchIndex(both, { words }))
  const { rows } = searchIndex(without, {
    q: 'moon address to coordinates',
    limit: 9,
    offset: 0,
  }).organic
  const relevances = rows.map(({ relevance }) => relevance)
  expect(relevances).toEqual(relevances.toSorted((a, b) => b - a))
})

test.each(['withdrawn_at_source', 'no_answer', 'deprecated'] as const)(
  'what is %s comes after what can be used, if that is at least half as relevant',
  (warning) => {
    const gone = [
      sampleDocument({ id: 'api.gone', name: 'Ports', summary: 'tide tables', warning }),
      sampleDocument({ id: 'api.here', name: 'Ports', summary: 'tide tables of days' }),
      ...documents,
    ]
    const found = loadSearchIndex(buildSearchIndex(gone))
    const { rows } = searchIndex(found, { q: 'tide tables', limit: 2, offset: 0 }).organic
    expect(rows.map(({ row }) => readId(found, row))).toEqual(['api.here', 'api.gone'])
    expect(rows[0]?.relevance).toBeLessThan(rows[1]?.relevance ?? 0)
  },
)

test('a wish for the cheapest leads to the task’s page, whose order is by the price of the task', () => {
  const filters = [{ words: ['cheapest'], use: 'sort=price' }]
  const words = { ...NO_SEARCH_WORDS, tasks: TASKS, filters }
  const cheap = loadSearchIndex(buildSearchIndex(documents, { words }))
  const { notes } = searchIndex(cheap, {
    q: 'cheapest address to coordinates',
    limit: 1,
    offset: 0,
  })
  expect(notes).toContain('Left out “cheapest”: /tasks/geocoding has its services by price.')
})

test('a slip in its words names the task too', () => {
  const filled = documents.map((document) => ({ ...document, summary: 'geocode' }))
  const words = { ...NO_SEARCH_WORDS, tasks: TASKS }
  const other = loadSearchIndex(buildSearchIndex(filled, { words }))
  expect(searchIndex(other, { q: 'geocdoe', limit: 1, offset: 0 }).task).toBe('geocoding')
})

test('a row that is far less relevant stays where it was, and so do all where no task is named', () => {
  const { ids } = find('address to coordinates')
  expect(ids.indexOf('api.weak')).toBeGreaterThan(ids.indexOf('api.both'))
  expect(find('coordinates address').ids[0]).toBe('api.both')
})

test('a task that nobody does is said to be so', () => {
  const none = documents.map((document) => ({ ...document, tasks: ['weather'] }))
  const words = { ...NO_SEARCH_WORDS, tasks: TASKS }
  const empty = loadSearchIndex(buildSearchIndex(none, { words }))
  const query = { q: 'geocode coordinates', limit: 5, offset: 0 }
  expect(searchIndex(empty, query).notes[0]).toBe('We know no listing that does “Geocoding”.')
  expect(searchIndex(index, query).notes.join()).not.toContain('We know no listing')
})

describe('a kit', () => {
  const own = loadSearchIndex(
    buildSearchIndex(
      [
        sampleDocument({ id: 'kit.maps', kind: 'kit', name: 'Maps', summary: 'maps maps' }),
        sampleDocument({ id: 'api.maps', name: 'Maps of places' }),
        sampleDocument({
          id: 'api.far',
          name: 'Other',
          summary: `maps ${'something '.repeat(40)}`,
        }),
      ],
      { words: { ...NO_SEARCH_WORDS, stop: ['of', 'for'] } },
    ),
  )
  const idsFor = (q: string, filters = {}) =>
    searchIndex(own, { q, limit: 5, offset: 0, ...filters }).organic.rows.map(({ row }) =>
      readId(own, row),
    )

  test('gives way to services that are at least half as relevant', () => {
    expect(idsFor('places maps')).toEqual(['api.maps', 'kit.maps', 'api.far'])
    expect(idsFor('places maps', { limit: 1 })).toEqual(['api.maps'])
  })

  test('does not where it is what was asked for', () => {
    expect(idsFor('maps for maps skill')[0]).toBe('kit.maps')
    expect(idsFor('maps', { kind: 'kit' })).toEqual(['kit.maps'])
  })
})

describe('a wish for what does the same as somebody', () => {
  const named = loadSearchIndex(
    buildSearchIndex(
      [
        sampleDocument({ id: 'api.acme', name: 'Acme', tasks: ['geocoding', 'weather'] }),
        sampleDocument({ id: 'api.both', name: 'Fair', tasks: ['geocoding', 'weather'] }),
        sampleDocument({ id: 'api.geo', name: 'Plain', tasks: ['geocoding'] }),
        sampleDocument({ id: 'api.one', name: 'Plain', tasks: ['weather'] }),
        sampleDocument({ id: 'api.none', name: 'Like Acme' }),
      ],
      {
        words: {
          ...NO_SEARCH_WORDS,
          stop: ['what', 'can', 'i', 'use', 'but'],
          filters: [{ words: ['cheaper'], use: 'sort=price' }],
          tasks: [{ id: 'weather', name: 'Weather', words: ['weather'], like: ['Wetter.com'] }],
        },
      },
    ),
  )
  const ask = (q: string) => {
    const { organic, notes } = searchIndex(named, { q, limit: 10, offset: 0 })
    return { ids: organic.rows.map(({ row }) => readId(named, row)).sort(), notes }
  }

  test.each([
    'acme alternative',
    'alternative to Acme',
    'something like acme',
    'like acme but cheaper',
    'what can I use instead of Acme',
    'acme alternative in a small team',
    'acme alternative for a small team',
    'something simpler than Acme',
    'more private than acme',
  ])('%s: who shares its tasks, without it', (q) => {
    const { ids, notes } = ask(q)
    expect(ids).toEqual(['api.both', 'api.geo', 'api.one'])
    expect(notes[0]).toContain('geocoding')
    expect(notes.join()).not.toContain('No listing matches “alternative”')
  })

  test.each([
    'wetter.com alternative',
    'something like Wetter',
    'instead of wetter.com',
    'other than Wetter',
  ])('%s: a name without a listing, by what people know it for', (q) =>
    expect(ask(q).ids).toEqual(['api.acme', 'api.both', 'api.one']),
  )

  test('the task beside the name is the one that is wanted', () => {
    expect(ask('acme alternative for weather').ids).toEqual(['api.both', 'api.one'])
  })

  test('who is known for the same comes first', () => {
    const words = {
      ...NO_SEARCH_WORDS,
      tasks: [{ id: 'weather', name: 'Weather', words: [], like: ['Wetter', 'Known'] }],
    }
    const documents = ['Weather', 'Known'].map((name) =>
      sampleDocument({ id: `api.${name.toLowerCase()}`, name, tasks: ['weather'] }),
    )
    const index = loadSearchIndex(buildSearchIndex(documents, { words }))
    const { organic } = searchIndex(index, { q: 'instead of Wetter', limit: 10, offset: 0 })
    expect(organic.rows.map(({ row }) => readId(index, row))).toEqual(['api.known', 'api.weather'])
  })

  test('who does all of the same comes before who is named after a part of it', () => {
    const index = indexOf([
      sampleDocument({ id: 'api.acme', name: 'Acme', tasks: ['geocoding', 'weather'] }),
      sampleDocument({ id: 'api.fair', name: 'Fair', tasks: ['geocoding', 'weather'] }),
      sampleDocument({ id: 'api.part', name: 'Weather', tasks: ['weather'] }),
      sampleDocument({ id: 'api.sun', name: 'Sun', tasks: ['weather', 'news', 'sports'] }),
    ])
    expect(findIn(index, 'instead of acme').ids).toEqual(['api.fair', 'api.part', 'api.sun'])
  })

  test('what is said beside the name orders them, and no listing need have it', () => {
    const { ids, notes } = ask('acme alternative for geese')
    expect(ids).toEqual(['api.both', 'api.geo', 'api.one'])
    expect(notes).toEqual([
      expect.stringContaining('Read as a search for other services'),
      expect.stringContaining('“geese”'),
    ])
  })

  test('who names nobody, and says more than that, is searched for by words', () => {
    expect(ask('swan alternative for geese').notes.join()).not.toContain('do the same as')
  })
})
