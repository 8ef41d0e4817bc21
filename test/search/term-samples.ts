import { type SortedTerms, sortTerms } from '../../src/search/index/term-dictionary.ts'
import { createTermLexicon } from '../../src/search/words/term-lexicon.ts'

/** Terms given as text, a pair as `pairTerm` writes it, in whatever order. */
export function sortedTerms(texts: Iterable<string>): SortedTerms {
  const lexicon = createTermLexicon()
  const numbers = Array.from(texts, (text) => {
    const [first = '', second = ''] = text.slice(1).split(' ')
    return text.startsWith(' ')
      ? lexicon.addPair(lexicon.numberOf(first), lexicon.numberOf(second))
      : lexicon.numberOf(text)
  })
  return sortTerms(lexicon, Uint32Array.from(numbers)).terms
}
