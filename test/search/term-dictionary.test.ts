import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { loadSearchIndex, readId } from '../../src/search/index/index-file.ts'
import {
  findPair,
  findTerm,
  pairText,
  wordAt,
  wordsWithPrefix,
} from '../../src/search/index/terms.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { drawsOf } from '../support/long.ts'
import { sampleDocument } from './search-samples.ts'
import { termDictionary } from './term-samples.ts'

const word = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'abc'), minLength: 1, maxLength: 6 }),
  fc.string({ unit: fc.constantFrom(...'aé.#天𠀀ｚ9'), minLength: 1, maxLength: 4 }),
)
const vocabulary = fc
  .record({
    words: fc.uniqueArray(word, { maxLength: 60 }),
    picks: fc.array(fc.nat(), { maxLength: 80 }),
  })
  .map(({ words, picks }) => {
    const at = (pick: number) => words[pick % words.length] ?? ''
    const pairs = picks
      .slice(1)
      .map((pick, index) => [at(picks[index] ?? 0), at(pick)] as const)
      .filter(([a, b]) => a !== b)
      .map(([a, b]) => pairText(a, b))
    return { words, terms: [...words.toSorted(), ...[...new Set(pairs)].sort(comparePairs)] }
  })

/** By the first word and then the other. */
function comparePairs(left: string, right: string): number {
  const [[a = '', b = ''], [c = '', d = '']] = [left.split(' '), right.split(' ')]
  if (a === c) return b < d ? -1 : 1
  return a < c ? -1 : 1
}

test('a term is found under its place among the sorted words, and the pairs behind them, another text under none', () => {
  fc.assert(
    fc.property(vocabulary, fc.array(word), ({ words, terms }, others) => {
      const dictionary = termDictionary(terms)
      expect(dictionary.numbers).toHaveLength(terms.length)
      expect(terms.map((term) => findTerm(dictionary, term))).toEqual([...terms.keys()])
      const sorted = words.toSorted()
      for (const text of words) expect(wordAt(dictionary.words, sorted.indexOf(text))).toBe(text)
      const requested = [...others, ...words.flatMap((a) => others.map((b) => pairText(a, b)))]
      for (const text of requested) expect(findTerm(dictionary, text)).toBe(terms.indexOf(text))
    }),
  )
})

test('a pair is found by the terms of its words in either order', () => {
  fc.assert(
    fc.property(vocabulary, ({ words, terms }) => {
      const dictionary = termDictionary(terms)
      for (const a of words.slice(0, 12)) {
        for (const b of words) {
          const found = findPair(dictionary, findTerm(dictionary, a), findTerm(dictionary, b))
          expect(found).toBe(a === b ? -1 : terms.indexOf(pairText(a, b)))
        }
      }
      expect(findPair(dictionary, -1, -1)).toBe(-1)
    }),
  )
})

test('the words that start with a text lie together', () => {
  fc.assert(
    fc.property(vocabulary, word, ({ words, terms }, prefix) => {
      const dictionary = termDictionary(terms)
      const [first, end] = wordsWithPrefix(dictionary.words, prefix)
      const expected = words.filter((text) => text.startsWith(prefix)).sort()
      expect(words.toSorted().slice(first, end)).toEqual(expected)
    }),
  )
})

test('any text at all can be indexed, and every listing is found by its id', () => {
  const text = fc.string({ unit: 'binary', maxLength: 30 })
  const odd = fc.constantFrom(
    '❤\ufe0f',
    '\ufe0f-a',
    'ﾞ',
    'a\u0301.\u0301',
    '\ufe70 b',
    '𠀀'.repeat(64),
  )
  const texts = fc.array(fc.oneof(text, odd), { maxLength: 4 }).map((parts) => parts.join(' '))
  const given = fc.record({ name: texts, summary: texts, owner: fc.boolean() })
  fc.assert(
    fc.property(fc.array(given, { minLength: 1, maxLength: 4 }), (looks) => {
      const documents = looks.map(({ name, summary, owner }, at) =>
        sampleDocument({ id: `mcp.n${at}`, name: owner ? 'some./one' : name, summary }),
      )
      const index = loadSearchIndex(buildSearchIndex(documents))
      for (const { id } of documents) {
        const { organic } = searchIndex(index, { q: id, limit: 20, offset: 0 })
        expect(organic.rows.map(({ row }) => readId(index, row))).toContain(id)
      }
    }),
    { numRuns: drawsOf(40) },
  )
})
