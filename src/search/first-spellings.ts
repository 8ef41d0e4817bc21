import { createNumberList } from './number-list.ts'
import type { TextAnalysis } from './text-analysis.ts'

/** How terms are written that are only a stem, such as `voicemak`: as the first word that had it. */
export function createFirstSpellings({ words, terms }: TextAnalysis) {
  /** The number of the first spelling, plus one, by term. */
  const spellings = createNumberList()
  /** 1 for each word that was told. */
  const seen = createNumberList()
  const isWord = (text: string) => {
    const word = words.find(text)
    return word >= 0 && seen.get(word) === 1
  }
  return {
    add(word: number): void {
      const term = words.termOf(word)
      seen.set(word, 1)
      if (spellings.get(term) === 0 && words.textOf(word) !== terms.wordOf(term))
        spellings.set(term, word + 1)
    },
    /** A written word for each term that is none itself. */
    toMap(): ReadonlyMap<string, string> {
      const written = new Map<string, string>()
      for (let term = 0; term < spellings.length(); term += 1) {
        const word = spellings.get(term)
        const text = terms.wordOf(term)
        if (word > 0 && !isWord(text)) written.set(text, words.textOf(word - 1))
      }
      return written
    },
  }
}
