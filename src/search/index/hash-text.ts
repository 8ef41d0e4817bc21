/** An odd number without pattern, so that every bit of a character reaches the high bits. */
const BASE = 0x9e3779b1

/** The 32-bit hash of a text, as the tables of the index file are laid out by it. */
export function hashText(text: string): number {
  let sum = 0
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, BASE) + text.charCodeAt(at)) | 0
  // Spreads the sum over all 32 bits: the last characters alone hardly touch the high ones.
  let hash = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
