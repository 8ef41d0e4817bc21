/**
 * A set of numbers that knows the place of each among its members. For every 32 numbers it has two
 * elements: a bit for each, and how many members come before them.
 */
export type RankedSet = Uint32Array

/** @param members ascending; one that repeats counts once */
export function buildRankedSet(members: Iterable<number>): RankedSet {
  const bits: number[] = []
  for (const member of members) {
    bits[member >>> 5] = (bits[member >>> 5] ?? 0) | (1 << member)
  }
  const set = new Uint32Array(bits.length * 2)
  let before = 0
  for (let at = 0; at < bits.length; at += 1) {
    set[at * 2] = bits[at] ?? 0
    set[at * 2 + 1] = before
    before += countBits(bits[at] ?? 0)
  }
  return set
}

/** The place of a number among the members, or -1. */
export function placeOf(set: RankedSet, number: number): number {
  const at = (number >>> 5) * 2
  const bits = at < set.length ? (set[at] ?? 0) : 0
  if (((bits >>> number) & 1) === 0) return -1
  return (set[at + 1] ?? 0) + countBits(bits & ((1 << number) - 1))
}

/** How many bits of a 32-bit number are set: added up in pairs, fours and eights at once. */
export function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
