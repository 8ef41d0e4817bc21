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
  /** The token of a word, or -1 for one that is left out. */
  const tokenOfWord = (word: number, keepStopWords: boolean) =>
    keepStopWords || !words.isStopWord(word) ? words.tokenOf(word) : -1
  /** The token of what stands beside words: another spelling, or a pair. */
  const tokenBeside = (kind: number, number: number) => {
    const term = kind === PAIR_STEP ? vocabulary.termOfPair(number) : number
    return term < 0 ? -1 : toToken(term, true)
  }
  return (text, keepStopWords) => {
    const tokens: number[] = []
    for (const step of analysis.stepsOf(text)) {
      const [kind, number] = [kindOf(step), numberIn(step)]
      const token =
        kind === WORD_STEP ? tokenOfWord(number, keepStopWords) : tokenBeside(kind, number)
      if (token >= 0) tokens.push(token)
    }
    return tokens
  }
}
