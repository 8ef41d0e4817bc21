/** Numbers from 0 to 1 that look random and are the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The same numbers, and what is drawn with them. */
export function createDraws(seed: number) {
  const next = createRandom(seed)
  return {
    /** From 0 to 1, 1 not included. */
    next,
    /** A whole number below `end`. */
    below: (end: number) => Math.floor(next() * end),
    pick<T>(items: readonly T[]): T {
      const item = items[Math.floor(next() * items.length)]
      if (item === undefined) throw new Error('There is nothing to pick from.')
      return item
    },
  }
}

export type Draws = ReturnType<typeof createDraws>
