import { createNumberList } from './number-list.ts'
import { createPairNumbers } from './pair-numbers.ts'
import type { TextAnalysis } from './text-analysis.ts'
import { ALIAS_STEP, kindOf, numberIn, PAIR_STEP, WORD_STEP } from './text-step.ts'
import { toTerm } from './to-term.ts'
import { toToken } from './token.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * The tokens a text adds to the index; repeated words give repeated tokens.
 * @param keepStopWords names keep theirs, so that a search for nothing else can find them
 */
export type IndexTokens = (text: string, keepStopWords: boolean) => number[]

export function createIndexTokens(analysis: TextAnalysis, vocabulary: Vocabulary): IndexTokens {
  const { words } = analysis
  const joinedTerm = createJoinedTerms(analysis, vocabulary)
  const addWord = (tokens: number[], previous: number, word: number, keepStopWords: boolean) => {
    const stop = words.isStopWord(word)
    if (!stop || keepStopWords) tokens.push(words.tokenOf(word))
    if (stop || previous < 0 || words.isStopWord(previous)) return
    const joined = joinedTerm(previous, word)
    if (joined >= 0) tokens.push(toToken(joined, true))
  }
  return (text, keepStopWords) => {
    const tokens: number[] = []
    let previous = -1
    for (const step of analysis.stepsOf(text)) {
      const number = numberIn(step)
      if (kindOf(step) === WORD_STEP) {
        addWord(tokens, previous, number, keepStopWords)
        previous = number
      } else {
        const term = aliasTerm(vocabulary, kindOf(step), number)
        if (term >= 0) tokens.push(toToken(term, true))
      }
    }
    return tokens
  }
}

function aliasTerm(vocabulary: Vocabulary, kind: number, number: number): number {
  if (kind === PAIR_STEP) return vocabulary.termOfPair(number)
  return kind === ALIAS_STEP || vocabulary.hasTerm(number) ? number : -1
}

/**
 * `power point` is also found as `powerpoint` where that is a word of its own: the term of two
 * words written as one, or -1. Remembered, as stemming costs more than looking up.
 */
function createJoinedTerms({ words, terms }: TextAnalysis, vocabulary: Vocabulary) {
  const pairs = createPairNumbers()
  /** By pair; two more than the term, 1 for none, 0 where nobody asked yet. */
  const joined = createNumberList()
  return (left: number, right: number): number => {
    const pair = pairs.numberOf(left, right)
    const known = joined.get(pair)
    if (known !== 0) return known - 2
    const term = terms.find(toTerm(words.textOf(left) + words.textOf(right)))
    const found = term >= 0 && vocabulary.hasTerm(term) ? term : -1
    joined.set(pair, found + 2)
    return found
  }
}
