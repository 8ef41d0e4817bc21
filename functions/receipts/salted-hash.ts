import { createHash, hash } from 'node:crypto'

/** Longer input is hashed without a copy; for short input a copy is cheaper than hashing parts. */
const MAX_COPIED = 16 * 1024

/** SHA-256 over a salt and the input. */
export function saltedHash(
  salt: Buffer,
  parts: readonly Uint8Array[],
  encoding: 'hex' | 'base64' = 'hex',
): string {
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  if (size <= MAX_COPIED) return hash('sha256', Buffer.concat([salt, ...parts]), encoding)
  const sum = createHash('sha256').update(salt)
  for (const part of parts) sum.update(part)
  return sum.digest(encoding)
}
