/** Pairs of words, by their numbers alone: the second words of each first word, ascending. */
export interface WordPairs {
  /** Where the pairs of each first word start in `seconds`; one more than there are words. */
  starts: Uint32Array
  seconds: Uint32Array
}

/** @param pairs first and second word of each, in order of the first and then the second */
export function buildWordPairs(
  pairs: readonly (readonly [first: number, second: number])[],
  words: number,
): WordPairs {
  const starts = new Uint32Array(words + 1)
  const seconds = new Uint32Array(pairs.length)
  pairs.forEach(([first, second], at) => {
    starts[first + 1] = at + 1
    seconds[at] = second
  })
  // A word that comes first in no pair has none between its neighbours' either.
  for (let word = 0; word < words; word += 1) {
    starts[word + 1] = Math.max(starts[word + 1] ?? 0, starts[word] ?? 0)
  }
  return { starts, seconds }
}

/** The number of a pair, or -1. */
export function findPair({ starts, seconds }: WordPairs, first: number, second: number): number {
  let low = starts[first] ?? 0
  const end = starts[first + 1] ?? 0
  let high = end
  while (low < high) {
    const middle = (low + high) >> 1
    if ((seconds[middle] ?? 0) < second) low = middle + 1
    else high = middle
  }
  return low < end && seconds[low] === second ? low : -1
}
