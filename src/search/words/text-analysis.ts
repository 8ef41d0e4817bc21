import { createNumberList } from '../numbers/number-list.ts'
import { createPairNumbers } from '../numbers/pair-numbers.ts'
import { createChunkSteps } from './chunk-steps.ts'
import { chunksOf } from './split-text.ts'
import { createTermLexicon } from './term-lexicon.ts'
import { kindOf, numberIn, PAIR_STEP, toStep, WORD_STEP } from './text-step.ts'
import { createWordList } from './word-list.ts'
import type { WordSets } from './word-sets.ts'

export type TextAnalysis = ReturnType<typeof createTextAnalysis>

/**
 * The analysis of all texts of an index. Each text is taken apart once, each chunk of characters
 * in it looked at once, however often it repeats; what is kept is some seventy numbers a listing.
 */
export function createTextAnalysis(sets: WordSets) {
  const terms = createTermLexicon()
  const words = createWordList(terms, sets)
  /** Of the terms of two neighbours, the lower number first. */
  const pairs = createPairNumbers()
  const stepsOfChunk = createChunkSteps(words, terms)
  /** The steps of each text, and before them how many they are. */
  const kept = createNumberList()
  const places = new Map<string, number>()
  const addPairs = (start: number, end: number) => {
    let previous = -1
    for (let at = start; at < end; at += 1) {
      const step = kept.get(at)
      const word = numberIn(step)
      if (kindOf(step) !== WORD_STEP || !words.isPairable(word)) continue
      const term = words.termOf(word)
      if (previous >= 0 && previous !== term) {
        const pair = pairs.numberOf(Math.min(previous, term), Math.max(previous, term))
        kept.push(toStep(pair, PAIR_STEP))
      }
      previous = term
    }
  }
  const analyse = (text: string) => {
    const place = kept.length()
    kept.push(0)
    for (const chunk of chunksOf(text)) for (const step of stepsOfChunk(chunk)) kept.push(step)
    addPairs(place + 1, kept.length())
    kept.set(place, kept.length() - place - 1)
    places.set(text, place)
    return place
  }
  const stepsOf = (text: string): Uint32Array => {
    const place = places.get(text) ?? analyse(text)
    return kept.between(place + 1, place + 1 + kept.get(place))
  }
  return { terms, words, pairs, stepsOf }
}
