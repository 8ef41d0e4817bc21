import { hasSingleLetter, splitChunk, type Word } from './split-text.ts'
import { stemWord } from './stem-word.ts'
import type { TermLexicon } from './term-lexicon.ts'
import { ALIAS_STEP, toStep, WORD_STEP } from './text-step.ts'
import type { WordList } from './word-list.ts'

/** The steps of a chunk of characters (see `chunksOf`). Remembers: texts repeat their words. */
export function createChunkSteps(words: WordList, terms: TermLexicon) {
  const remembered = new Map<string, readonly number[]>()
  return (chunk: string): readonly number[] => {
    const known = remembered.get(chunk)
    if (known !== undefined) return known
    const steps = splitChunk(chunk).flatMap((word) => [
      ...plainParts(word).map((part) => toStep(words.numberOf(part), WORD_STEP)),
      ...aliasSteps(word, words, terms),
    ])
    remembered.set(chunk, steps)
    return steps
  }
}

/** What counts: each word once. CamelCase counts as the one word it is written as. */
function plainParts(word: Word): readonly string[] {
  if (word.style === 'plain' || word.style === 'camel') return [word.whole]
  if (word.style === 'hyphen' && hasSingleLetter(word)) return [word.whole]
  return word.parts
}

function aliasSteps(word: Word, words: WordList, terms: TermLexicon): number[] {
  switch (word.style) {
    case 'camel':
      return word.parts
        .filter((part) => part.length > 1 && !words.isStopText(part))
        .map((part) => toStep(terms.numberOf(stemWord(part)), ALIAS_STEP))
    case 'hyphen':
      // Two parts are found as a pair; more, such as text-to-speech, need their order.
      return word.parts.length > 2 ? [toStep(terms.numberOf(stemWord(word.whole)), ALIAS_STEP)] : []
    default:
      return []
  }
}
