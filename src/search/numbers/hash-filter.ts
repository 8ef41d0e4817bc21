/**
 * A bit for every hash of a set. It is small enough to stay in the processor's cache, where a hash
 * that isn't in the set nearly always ends; one bit in ten is set, so a yes must be looked up.
 */
export type HashFilter = Uint32Array

const BITS_PER_HASH = 8
const WORD_BITS = 32

export function buildHashFilter(hashes: readonly number[]): HashFilter {
  const words = Math.max(1, (hashes.length * BITS_PER_HASH) / WORD_BITS)
  const filter = new Uint32Array(2 ** Math.ceil(Math.log2(words)))
  for (const hash of hashes) {
    const bit = bitOf(filter, hash)
    filter[bit >>> 5] = (filter[bit >>> 5] ?? 0) | (1 << bit)
  }
  return filter
}

/** False for most hashes outside the set, true for all inside. */
export function mayContain(filter: HashFilter, hash: number): boolean {
  const bit = bitOf(filter, hash)
  return (((filter[bit >>> 5] ?? 0) >>> bit) & 1) === 1
}

/** The high bits of the hash: as many as number the filter's bits, a power of two. */
function bitOf({ length }: HashFilter, hash: number): number {
  return hash >>> (Math.clz32(length) - 4)
}
