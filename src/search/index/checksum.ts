const PRIME = 0x01000193
const SEED = 0x811c9dc5

/**
 * A 32-bit checksum against damage (not against forgery): FNV-1a over 32-bit words in two lanes, so
 * that the processor can work on both at once; each step is a bijection, so a single changed word
 * always changes the result.
 */
export function checksum(bytes: Uint8Array): number {
  const whole = bytes.length >>> 3
  const words = wordsOf(bytes, whole * 2)
  let a = SEED
  let b = bytes.length
  for (let i = 0; i < whole * 2; i += 2) {
    a = Math.imul(a ^ (words[i] ?? 0), PRIME)
    b = Math.imul(b ^ (words[i + 1] ?? 0), PRIME)
  }
  for (let i = whole * 8; i < bytes.length; i += 1) a = Math.imul(a ^ (bytes[i] ?? 0), PRIME)
  return (Math.imul(a ^ (a >>> 15), PRIME) ^ b) >>> 0
}

/** Listing bodies start at any byte: unaligned ones are copied to an aligned buffer. */
function wordsOf(bytes: Uint8Array, length: number): Uint32Array {
  const { buffer, byteOffset } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  return new Uint32Array(buffer, byteOffset, length)
}
