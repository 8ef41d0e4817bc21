import { describe, expect, test } from 'vitest'
import { buildSearchIndex } from '../../src/search/build-search-index.ts'
import { readId } from '../../src/search/index-rows.ts'
import { loadSearchIndex } from '../../src/search/load-search-index.ts'
import type { SearchDocument } from '../../src/search/search-document.ts'
import { searchIndex } from '../../src/search/search-index.ts'
import { sampleDocument } from './search-samples.ts'

/**
 * BM25 written down again from its definition, over plain words, so that a mistake in the
 * engine can't hide in shared code. Words are made up: no analysis touches them.
 */
const K1 = 1.2
const B = 0.75

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

function fieldsOf({ name, tags, categories, summary }: SearchDocument): [number, string[]][] {
  const words = (text: string) => text.split(' ').filter((word) => word !== '')
  return [
    [3, words(name)],
    [2, [...tags, ...categories]],
    [1, words(summary)],
  ]
}

function scoreByHand(documents: SearchDocument[], query: string[], at: number): number {
  const columns = [0, 1, 2].map((field) => documents.map((row) => fieldsOf(row)[field]?.[1] ?? []))
  const weights = [3, 2, 1]
  let score = 0
  columns.forEach((column, field) => {
    const average = column.flat().length / documents.length
    const words = column[at] ?? []
    for (const word of query) {
      const df = column.filter((other) => other.includes(word)).length
      const idf = Math.log(1 + (documents.length - df + 0.5) / (df + 0.5))
      const tf = words.filter((other) => other === word).length
      const norm = 1 - B + (B * words.length) / average
      score += (weights[field] ?? 0) * idf * ((tf * (K1 + 1)) / (tf + K1 * norm))
    }
  })
  return score
}

function served(documents: SearchDocument[], q: string): Map<string, number> {
  const index = loadSearchIndex(buildSearchIndex(documents))
  const { organic } = searchIndex(index, { q, limit: 50, offset: 0 })
  return new Map(
    organic.rows.map(({ row, relevance }) => [readId(index, 'organic', row), relevance]),
  )
}

test.each([
  ['one word in all three fields', 'zorb'],
  ['two words', 'quax dorv'],
  ['a word repeated in a field', 'dorv'],
  ['many words, each counted once', 'plin vlim plin murp fenk jast'],
])('relevance is the BM25 computed by hand: %s', (_name, q) => {
  const found = served(corpus, q)
  const words = [...new Set(q.split(' '))]
  for (const [at, { id }] of corpus.entries()) {
    const expected = scoreByHand(corpus, words, at)
    if (expected === 0) expect(found.has(id)).toBe(false)
    else expect(found.get(id)).toBeCloseTo(expected, 4)
  }
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
    sampleDocument({ id: `mcp.n${at}`, name: 'zorb', trustScore: null }),
  )
  const last = sampleDocument({ id: 'mcp.zz', name: 'zorb plin', trustScore: 100 })
  const index = loadSearchIndex(buildSearchIndex([...many, last]))
  const { organic } = searchIndex(index, { q: 'zorb', limit: 1, offset: 0 })
  expect(organic.rows.map(({ row }) => readId(index, 'organic', row))).toEqual(['mcp.zz'])
  expect(organic.total).toBe(61)
})

describe('from a hundred listings on, where several things are asked for', () => {
  const fillers = Array.from({ length: 120 }, (_, at) =>
    sampleDocument({
      id: `api.filler-${at}`,
      name: 'tarn',
      summary: at === 1 ? 'rain' : at % 3 === 0 ? 'zorb' : 'weather',
    }),
  )
  const documents = [...corpus, ...fillers]
  const texts = documents.map((document) => fieldsOf(document).flatMap(([, words]) => words))
  const names = documents.map(({ name }) => name.split(' ').filter((word) => word !== '').length)
  const average = names.reduce((sum, length) => sum + length, 0) / documents.length
  /** What a token in the name scores that stands for holding all of `words`, wherever. */
  const token = (words: string[], at: number) => {
    const holds = (text: string[]) => words.every((word) => text.includes(word))
    if (!holds(texts[at] ?? [])) return 0
    const df = texts.filter(holds).length
    const idf = Math.log(1 + (documents.length - df + 0.5) / (df + 0.5))
    const norm = 1 - B + (B * (names[at] ?? 0)) / average
    return (3 * idf * (K1 + 1)) / (1 + K1 * norm)
  }

  test('each word a listing holds is two more tokens in its name, and the two together one', () => {
    const found = served(documents, 'zorb vlim')
    for (const at of [0, 1, 2, 3, 5]) {
      const tokens = 2 * token(['zorb'], at) + 2 * token(['vlim'], at) + token(['zorb', 'vlim'], at)
      const expected = scoreByHand(documents, ['zorb', 'vlim'], at) + tokens
      expect(found.get(documents[at]?.id ?? '')).toBeCloseTo(expected, 4)
    }
  })

  test('a word that listings use in the place of one asked for is one token, and nothing else', () => {
    const found = served(documents, 'rain vlim')
    const plain = scoreByHand(documents, ['vlim'], 0) + 2 * token(['vlim'], 0)
    expect(found.get('mcp.one')).toBeCloseTo(plain, 4)
    const weather = documents.findIndex(({ summary }) => summary === 'weather')
    expect(found.get('api.filler-2')).toBeCloseTo(token(['weather'], weather), 4)
  })

  test('one word alone is scored by the fields it stands in', () => {
    const found = served(documents, 'vlim')
    expect(found.get('mcp.one')).toBeCloseTo(scoreByHand(documents, ['vlim'], 0), 4)
  })
})
