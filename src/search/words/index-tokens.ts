import type { TextAnalysis } from './text-analysis.ts'
import { kindOf, numberIn, PAIR_STEP, toToken, WORD_STEP } from './text-step.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * The tokens a text adds to the index; repeated words give repeated tokens.
 * @param keepStopWords names keep theirs, so that a search for nothing else can find them
 */
export type IndexTokens = (text: string, keepStopWords: boolean) => number[]

export function createIndexTokens(analysis: TextAnalysis, vocabulary: Vocabulary): IndexTokens {
  const { words } = analysis
  return (text, keepStopWords) => {
    const tokens: number[] = []
    for (const step of analysis.stepsOf(text)) {
      const number = numberIn(step)
      if (kindOf(step) === WORD_STEP) {
        if (keepStopWords || !words.isStopWord(number)) tokens.push(words.tokenOf(number))
      } else {
        const term = kindOf(step) === PAIR_STEP ? vocabulary.termOfPair(number) : number
        if (term >= 0) tokens.push(toToken(term, true))
      }
    }
    return tokens
  }
}
