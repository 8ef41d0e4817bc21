import fc from 'fast-check'
import { expect, test } from 'vitest'
import { correctWord } from '../../src/search/correct-word.ts'
import { buildTermDictionary, findTerm } from '../../src/search/term-dictionary.ts'
import { sortedTerms } from './term-samples.ts'

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789']

/** Every text one edit away from a word, in the order in which the first of equals wins. */
function neighbours(word: string): string[] {
  const places = [...word].map((letter, at) => ({
    before: word.slice(0, at),
    letter,
    next: word[at + 1] ?? '',
    after: word.slice(at + 1),
  }))
  const edited = places.flatMap(({ before, letter, next, after }) => [
    before + after,
    ...LETTERS.map((other) => before + other + after),
    ...(next === '' ? [] : [before + next + letter + after.slice(1)]),
  ])
  const longer = [...word, ''].flatMap((_, at) =>
    LETTERS.map((letter) => word.slice(0, at) + letter + word.slice(at)),
  )
  return [...edited, ...longer].filter((text) => text !== word)
}

function correctPlainly(rows: ReadonlyMap<string, number>, word: string, atLeast: number) {
  const weighed = neighbours(word)
    .filter((text) => (rows.get(text) ?? 0) >= atLeast)
    .map((text) => ({ text, weight: (rows.get(text) ?? 0) / (text[0] === word[0] ? 1 : 8) }))
  const most = Math.max(0, ...weighed.map(({ weight }) => weight))
  return weighed.find(({ weight }) => weight === most)?.text ?? null
}

function correct(rows: ReadonlyMap<string, number>, word: string, atLeast: number) {
  const dictionary = buildTermDictionary(sortedTerms(rows.keys()))
  const byNumber = new Map([...rows].map(([text, count]) => [findTerm(dictionary, text), count]))
  return correctWord(dictionary, word, (term) => byNumber.get(term) ?? 0, atLeast)
}

const few = fc.string({ unit: fc.constantFrom(...'aab1'), minLength: 1, maxLength: 7 })
const slipOf = fc
  .record({
    word: fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 4, maxLength: 24 }),
    at: fc.nat(),
  })
  .map(({ word, at }) => [word, neighbours(word)[at % neighbours(word).length] ?? word] as const)

test('what is meant is the most frequent term one edit away, as trying all of them plainly finds', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(few, fc.integer({ min: 1, max: 30 })), { maxLength: 40 }),
      fc
        .string({ unit: fc.constantFrom(...'aab1'), minLength: 3, maxLength: 7 })
        .map((end) => `a${end}`),
      fc.constantFrom(1, 20),
      (terms, word, atLeast) => {
        const rows = new Map(terms)
        expect(correct(rows, word, atLeast)).toBe(correctPlainly(rows, word, atLeast))
      },
    ),
    { numRuns: 500 },
  )
})

test('every word of 4 to 24 characters is found from every slip that is as long', () => {
  fc.assert(
    fc.property(slipOf, ([word, slip]) => {
      fc.pre(/^[a-z][a-z0-9]{3,23}$/.test(slip))
      expect(correct(new Map([[word, 1]]), slip, 1)).toBe(word)
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['too short', 'abd'],
  ['too long', 'a'.repeat(25)],
  ['not of plain letters', 'abcé'],
])('a word that is %s is left alone', (_name, word) => {
  expect(
    correct(
      new Map([
        ['abc', 9],
        ['a'.repeat(24), 9],
        ['abce', 9],
      ]),
      word,
      1,
    ),
  ).toBeNull()
})
