/** Base58 as Solana writes keys and signatures. */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** 64 bytes are at most 88 characters. */
const MAX_LENGTH = 90

/** @returns null unless it is base58 of exactly this many bytes */
export function decodeBase58(text: string, size: number): Uint8Array | null {
  if (text.length > MAX_LENGTH) return null
  let value = 0n
  for (const character of text) {
    const digit = ALPHABET.indexOf(character)
    if (digit < 0) return null
    value = value * 58n + BigInt(digit)
  }
  const bytes = new Uint8Array(size)
  let zeros = size
  for (; value > 0n && zeros > 0; value >>= 8n) bytes[--zeros] = Number(value & 255n)
  return value === 0n && text.length - text.replace(/^1+/, '').length === zeros ? bytes : null
}

export function encodeBase58(bytes: Uint8Array): string {
  let value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  let text = ''
  for (; value > 0n; value /= 58n) text = (ALPHABET[Number(value % 58n)] ?? '') + text
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + text
}
