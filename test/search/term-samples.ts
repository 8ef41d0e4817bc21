import { sortTerms } from '../../src/search/index/build-index.ts'
import { createTermNumbers } from '../../src/search/index/search-document.ts'
import { buildWordTable } from '../../src/search/index/terms.ts'

/** Terms given as text, a pair as `pairText` writes it, in whatever order. */
export function termDictionary(texts: Iterable<string>) {
  const terms = createTermNumbers()
  const kept = new Set(
    Array.from(texts, (text) => {
      const [first = '', second] = text.split(' ')
      const number = terms.ofWord(first)
      return second === undefined ? number : terms.ofPair(number, terms.ofWord(second))
    }),
  )
  const { words, pairs, numbers } = sortTerms(terms, (pair) => kept.has(pair))
  return { words: buildWordTable(words), pairs, numbers }
}
