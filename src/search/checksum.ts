const LANES = 4
const PRIME = 0x01000193
const SEED = 0x811c9dc5

/**
 * A 32-bit checksum against damage (not against forgery): four interleaved FNV-1a lanes over
 * 32-bit words, so that the processor can work on them at once; each step is a bijection, so a
 * single changed word always changes the result.
 */
export function checksum(bytes: Uint8Array): number {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice()
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 2)
  let a = SEED
  let b = SEED + 1
  let c = SEED + 2
  let d = SEED + 3
  const whole = words.length - (words.length % LANES)
  for (let i = 0; i < whole; i += LANES) {
    a = Math.imul(a ^ (words[i] ?? 0), PRIME)
    b = Math.imul(b ^ (words[i + 1] ?? 0), PRIME)
    c = Math.imul(c ^ (words[i + 2] ?? 0), PRIME)
    d = Math.imul(d ^ (words[i + 3] ?? 0), PRIME)
  }
  for (const byte of aligned.subarray(whole * 4)) a = Math.imul(a ^ byte, PRIME)
  const mixed = [b, c, d, aligned.byteLength].reduce((hash, lane) => {
    const spread = Math.imul(hash ^ (hash >>> 15), PRIME) ^ lane
    return Math.imul(spread, PRIME)
  }, a)
  return mixed >>> 0
}
