export type TermNumbers = ReturnType<typeof createTermNumbers>

/**
 * The terms of an index as numbers, counted from 0 in the order they come: words, and pairs of two
 * words' terms in either order. One map per term for its pairs: a single `Map` ends at 2^24
 * entries, and the neighbours in the texts of a million listings are about as many.
 */
export function createTermNumbers() {
  const words = new Map<string, number>()
  const pairs = new Map<number, Map<number, number>>()
  let size = 0
  const take = <Key>(numbers: Map<Key, number>, key: Key) => {
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, size)
    size += 1
    return size - 1
  }
  return {
    /** By text. */
    words: words as ReadonlyMap<string, number>,
    /** By the lower term and then the higher one. */
    pairs: pairs as ReadonlyMap<number, ReadonlyMap<number, number>>,
    /** The number of a word's term; a new one for a term not seen before. */
    ofWord: (text: string): number => take(words, text),
    ofPair(a: number, b: number): number {
      const lower = Math.min(a, b)
      const others = pairs.get(lower) ?? new Map<number, number>()
      if (others.size === 0) pairs.set(lower, others)
      return take(others, Math.max(a, b))
    },
  }
}
