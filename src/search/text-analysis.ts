import { createNumberList } from './number-list.ts'
import { createPairNumbers } from './pair-numbers.ts'
import { chunksOf, hasSingleLetter, splitChunk, type Word } from './split-text.ts'
import { STOP_WORDS } from './stop-words.ts'
import { createTermLexicon } from './term-lexicon.ts'
import { toTerm } from './to-term.ts'
import { createWordList } from './word-list.ts'

/**
 * What a text is made of, in order, as numbers: four times the number of a word, term or pair, plus
 * one of these kinds.
 */
export const WORD_STEP = 0
/** A term that is another spelling of words around it. */
export const ALIAS_STEP = 1
/** The same, if the term stands in enough listings. */
export const KNOWN_ALIAS_STEP = 2
/** Two neighbours, stop words and generic words passed over. */
export const PAIR_STEP = 3
const KIND_BITS = 2

export type TextAnalysis = ReturnType<typeof createTextAnalysis>

/**
 * The analysis of all texts of an index. Each text is taken apart once, each chunk of characters
 * in it looked at once, however often it repeats; what is kept is some forty numbers a listing.
 */
export function createTextAnalysis() {
  const terms = createTermLexicon()
  const words = createWordList(terms)
  const pairs = createPairNumbers()
  const chunks = new Map<string, readonly number[]>()
  const places = new Map<string, number>()
  const kept = createNumberList()
  const stepsOfChunk = (chunk: string) => {
    const known = chunks.get(chunk)
    if (known !== undefined) return known
    const steps = splitChunk(chunk).flatMap((word) => [
      ...plainParts(word).map((part) => toStep(words.numberOf(part), WORD_STEP)),
      ...aliasSteps(word, terms.numberOf),
    ])
    chunks.set(chunk, steps)
    return steps
  }
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
    return place
  }
  return {
    terms,
    words,
    /** The two terms of each pair. */
    pairs,
    /** The steps of a text. */
    stepsOf(text: string): Uint32Array {
      let place = places.get(text)
      if (place === undefined) {
        place = analyse(text)
        places.set(text, place)
      }
      return kept.between(place + 1, place + 1 + kept.get(place))
    },
  }
}

function toStep(number: number, kind: number): number {
  return (number << KIND_BITS) | kind
}

export function kindOf(step: number): number {
  return step & ((1 << KIND_BITS) - 1)
}

/** The number of the word, term or pair of a step. */
export function numberIn(step: number): number {
  return step >>> KIND_BITS
}

/** What counts: each word once. CamelCase counts as the one word it is written as. */
function plainParts(word: Word): readonly string[] {
  if (word.style === 'plain' || word.style === 'camel') return [word.whole]
  if (word.style === 'hyphen' && hasSingleLetter(word)) return [word.whole]
  return word.parts
}

function aliasSteps(word: Word, numberOf: (term: string) => number): number[] {
  const whole = (kind: number) => toStep(numberOf(toTerm(word.whole)), kind)
  switch (word.style) {
    case 'camel':
      return word.parts
        .filter((part) => part.length > 1 && !STOP_WORDS.has(part))
        .map((part) => toStep(numberOf(toTerm(part)), ALIAS_STEP))
    case 'hyphen':
      // Two parts are found as a pair; more, such as text-to-speech, need their order.
      return [whole(word.parts.length > 2 ? ALIAS_STEP : KNOWN_ALIAS_STEP)]
    case 'dotted':
      return [toStep(numberOf(word.whole), ALIAS_STEP)]
    default:
      return []
  }
}
