/** An odd number without pattern, so that every bit of a character reaches the high bits. */
const BASE = 0x9e3779b1

/** The 32-bit hash of a text, as the tables of the index file are laid out by it. */
export function hashText(text: string): number {
  let sum = 0
  for (let at = 0; at < text.length; at += 1) sum = appendToSum(sum, text.charCodeAt(at))
  return hashOfSum(sum)
}

/**
 * A text's sum with a character more. Sums, a polynomial modulo 2^32, can be put together: the sum
 * of `ab` is `sum(a) * BASE ** b.length + sum(b)`, see `powersOfBase`.
 */
export function appendToSum(sum: number, unit: number): number {
  return (Math.imul(sum, BASE) + unit) | 0
}

/** The powers of the base that a sum is multiplied by for as many characters after it. */
export function powersOfBase(count: number): Int32Array {
  const powers = new Int32Array(count)
  let power = 1
  for (let at = 0; at < count; at += 1) {
    powers[at] = power
    power = Math.imul(power, BASE)
  }
  return powers
}

/** Spreads a sum over all 32 bits: the last characters alone hardly touch the high ones. */
export function hashOfSum(sum: number): number {
  let hash = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
