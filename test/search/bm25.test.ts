import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NO_SEARCH_WORDS } from '../../src/domain/derived/tables.ts'
import { readId, type SearchIndex } from '../../src/search/index/index-file.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { drawsOf } from '../support/long.ts'
import { indexOf, sampleDocument } from './search-samples.ts'

/**
 * BM25F written down again from its definition, over what the listings really hold, so that a
 * mistake in the engine can't hide in shared code. Words are made up: no analysis touches them but
 * the pairs of neighbours, which are written down here too.
 */
const K1 = 1.2
const B = 0.75
const PAIR = 0.5
const WEIGHTS = [3, 2, 1]

const corpus = [
  sampleDocument({
    id: 'mcp.one',
    name: 'zorb',
    tags: ['quax', 'vlim'],
    summary: 'zorb plin dorv',
  }),
  sampleDocument({
    id: 'mcp.two',
    name: 'quax plin',
    categories: ['zorb'],
    summary: 'dorv dorv zorb fenk',
  }),
  sampleDocument({ id: 'x402.three', name: 'vlim', tags: ['zorb', 'zorb'], summary: 'quax' }),
  sampleDocument({
    id: 'x402.four',
    name: 'fenk dorv murp',
    summary: 'plin vlim zorb quax murp jast',
  }),
  sampleDocument({ id: 'a2a.five', name: 'jast' }),
]

/** With them an index is longer than what is first set apart for its postings. */
const OTHERS = Array.from({ length: 300 }, (_, at) =>
  sampleDocument({ id: `mcp.other-${at}`, summary: 'grup knol smet trab' }),
)

const words = (text: string) => text.split(' ').filter((word) => word !== '')

/** Name, labels and summary of a listing as texts of words. */
function fieldsOf({ name, tags, categories, summary }: SearchDocument): string[][][] {
  return [[words(name)], [...tags, ...categories].map(words), [words(summary)]]
}

/** How often a field holds a term: a word, or two words side by side in either order. */
function frequencyOf(field: string[][], term: string[]): number {
  const [first, second] = term
  return field.reduce((sum, text) => {
    const places = text.filter((word, at) => {
      if (second === undefined) return word === first
      const next = text[at + 1]
      return (word === first && next === second) || (word === second && next === first)
    })
    return sum + places.length
  }, 0)
}

/** A pair is a term where two listings have it and its words differ. */
function termsOf(documents: SearchDocument[], query: string[]): [string[], number][] {
  const pairs = query.slice(1).map((word, at) => [query[at] ?? '', word])
  const known = pairs.filter(([left, right]) => {
    const holding = documents.filter((document) =>
      fieldsOf(document).some((field) => frequencyOf(field, [left ?? '', right ?? '']) > 0),
    )
    return left !== right && holding.length > 1
  })
  const distinct = new Map([
    ...[...new Set(query)].map((word) => [word, [[word], 1]] as [string, [string[], number]]),
    ...known.map(
      (pair) => [pair.toSorted().join(' '), [pair, PAIR]] as [string, [string[], number]],
    ),
  ])
  return [...distinct.values()]
}

function scoreByHand(documents: SearchDocument[], query: string[], at: number): number {
  const all = documents.map(fieldsOf)
  const averages = WEIGHTS.map(
    (_, field) => all.reduce((sum, row) => sum + (row[field] ?? []).flat().length, 0) / all.length,
  )
  return termsOf(documents, query).reduce((score, [term, counts]) => {
    const df = all.filter((row) => row.some((field) => frequencyOf(field, term) > 0)).length
    const idf = Math.log(1 + (all.length - df + 0.5) / (df + 0.5))
    const tf = (all[at] ?? []).reduce((sum, field, number) => {
      const average = averages[number] ?? 0
      const norm = average > 0 ? 1 - B + (B * field.flat().length) / average : 1
      return sum + ((WEIGHTS[number] ?? 0) * frequencyOf(field, term)) / norm
    }, 0)
    return score + (counts * idf * (tf * (K1 + 1))) / (K1 + tf)
  }, 0)
}

function served(documents: SearchDocument[], q: string): Map<string, number> {
  return servedBy(indexOf(documents, { words: NO_SEARCH_WORDS }), q)
}

function servedBy(index: SearchIndex, q: string): Map<string, number> {
  const { organic } = searchIndex(index, { q, limit: 50, offset: 0 })
  return new Map(organic.rows.map(({ row, relevance }) => [readId(index, row), relevance]))
}

test.each([
  ['one word in all three fields', 'zorb'],
  ['two words', 'quax dorv'],
  ['two words that stand side by side', 'zorb plin'],
  ['a word repeated in a field', 'dorv'],
  ['many words, each counted once', 'plin vlim plin murp fenk jast'],
])('relevance is the BM25F computed by hand: %s', (_name, q) => {
  for (const documents of [corpus, [...corpus, ...OTHERS]]) {
    const found = served(documents, q)
    for (const [at, { id }] of corpus.entries()) {
      const expected = scoreByHand(documents, words(q), at)
      if (expected === 0) expect(found.has(id)).toBe(false)
      else expect(found.get(id)).toBeCloseTo(expected, 5)
    }
  }
})

const VOCABULARY = ['zorb', 'plin', 'quax', 'vlim', 'dorv', 'fenk']
const text = (max: number) =>
  fc.array(fc.constantFrom(...VOCABULARY), { maxLength: max }).map((list) => list.join(' '))
const listings = fc
  .array(
    fc.record({ name: text(3), summary: text(8), tags: fc.array(text(2), { maxLength: 2 }) }),
    {
      minLength: 1,
      maxLength: 30,
    },
  )
  .map((rows) => rows.map((row, at) => sampleDocument({ ...row, id: `mcp.n${at}` })))

describe('the formula is the same at every size', () => {
  test('of listings drawn at random', () => {
    fc.assert(
      fc.property(
        listings,
        fc.array(fc.constantFrom(...VOCABULARY), { minLength: 1, maxLength: 4 }),
        (documents, query) => {
          const found = served(documents, query.join(' '))
          for (const [at, { id }] of documents.entries()) {
            const expected = scoreByHand(documents, query, at)
            if (expected === 0) expect(found.has(id)).toBe(false)
            else expect(found.get(id)).toBeCloseTo(expected, 5)
          }
        },
      ),
      { numRuns: drawsOf(200) },
    )
  })
})

test.each([
  [null, false, 1],
  [0, false, 1],
  [80, false, 1.4],
  [100, true, 1.65],
  [null, true, 1.1],
  [37, true, 1.3035],
])('trust %s and Live-Tested %s multiply the score by %s', (trustScore, liveTested, factor) => {
  const [first, ...rest] = corpus
  if (first === undefined) throw new Error('the corpus is empty')
  const plain = served(corpus, 'zorb').get(first.id) ?? 0
  const lifted = served([{ ...first, trustScore, liveTested }, ...rest], 'zorb').get(first.id) ?? 0
  expect(lifted / plain).toBeCloseTo(factor, 5)
})

test('the multipliers are applied before the page is cut', () => {
  const many = Array.from({ length: 60 }, (_, at) =>
    sampleDocument({ id: `mcp.n${at}`, name: 'zorb jast', trustScore: null }),
  )
  const last = sampleDocument({ id: 'mcp.zz', name: 'zorb plin', trustScore: 100 })
  const index = indexOf([...many, last])
  const { organic } = searchIndex(index, { q: 'zorb', limit: 1, offset: 0 })
  expect(organic.rows.map(({ row }) => readId(index, row))).toEqual(['mcp.zz'])
  expect(organic.total).toBe(61)
})
