const LANES = 4
const PRIME = 0x01000193
const SEED = 0x811c9dc5

/**
 * A 32-bit checksum against damage (not against forgery): four interleaved FNV-1a lanes over
 * 32-bit words, so that the processor can work on them at once; each step is a bijection, so a
 * single changed word always changes the result.
 */
export function checksum(bytes: Uint8Array): number {
  const words = wordsOf(bytes)
  const whole = (bytes.length >> 2) & ~(LANES - 1)
  let a = SEED
  let b = SEED + 1
  let c = SEED + 2
  let d = SEED + 3
  for (let i = 0; i < whole; i += LANES) {
    a = Math.imul(a ^ (words[i] ?? 0), PRIME)
    b = Math.imul(b ^ (words[i + 1] ?? 0), PRIME)
    c = Math.imul(c ^ (words[i + 2] ?? 0), PRIME)
    d = Math.imul(d ^ (words[i + 3] ?? 0), PRIME)
  }
  for (let i = whole * 4; i < bytes.length; i += 1) a = Math.imul(a ^ (bytes[i] ?? 0), PRIME)
  return mix(mix(mix(mix(a, b), c), d), bytes.length) >>> 0
}

function mix(hash: number, lane: number): number {
  return Math.imul(Math.imul(hash ^ (hash >>> 15), PRIME) ^ lane, PRIME)
}

/** Listing bodies lie at any byte: they are copied to where words may lie, a few each search. */
const scratch = new Uint32Array(4096)
const scratchBytes = new Uint8Array(scratch.buffer)

/** The bytes as words, perhaps with others behind them. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  if (bytes.byteOffset % 4 === 0)
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
  if (bytes.length > scratchBytes.length) return wordsOf(new Uint8Array(bytes))
  scratchBytes.set(bytes)
  return scratch
}
