import { buildRankedSet, placeOf, type RankedSet } from './ranked-set.ts'

/** Pairs of words, by their numbers alone: the second words of each first word, ascending. */
export interface WordPairs {
  /** The words that come first in a pair: most do in none. */
  firsts: RankedSet
  /** Where the pairs of each of those start in `seconds`; one more than there are. */
  starts: Uint32Array
  /** Of two bytes each as long as all words have numbers that short. */
  seconds: Uint16Array | Uint32Array
}

const SHORT_NUMBERS = 2 ** 16

/**
 * @param firsts the first word of each pair, in order
 * @param seconds the second of each, in order among those with the same first
 */
export function buildWordPairs(
  firsts: Uint32Array,
  seconds: Uint32Array,
  words: number,
): WordPairs {
  const starts: number[] = []
  firsts.forEach((first, at) => {
    if (at === 0 || first !== firsts[at - 1]) starts.push(at)
  })
  return {
    firsts: buildRankedSet(firsts),
    starts: Uint32Array.from([...starts, firsts.length]),
    seconds: hasShortNumbers(words) ? Uint16Array.from(seconds) : seconds,
  }
}

/** Whether `seconds` has two bytes a number, given how many words there are. */
export function hasShortNumbers(words: number): boolean {
  return words <= SHORT_NUMBERS
}

/** The number of a pair, or -1. */
export function findPair(
  { firsts, starts, seconds }: WordPairs,
  first: number,
  second: number,
): number {
  const place = placeOf(firsts, first)
  if (place < 0) return -1
  let low = starts[place] ?? 0
  const end = starts[place + 1] ?? 0
  let high = end
  while (low < high) {
    const middle = (low + high) >> 1
    if ((seconds[middle] ?? 0) < second) low = middle + 1
    else high = middle
  }
  return low < end && seconds[low] === second ? low : -1
}
