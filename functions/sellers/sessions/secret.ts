import { createHash, randomBytes } from 'node:crypto'

/** 256 bits: nothing to guess, so a plain hash at rest is enough. */
const SECRET_BYTES = 32

/** base64url of 32 bytes without padding. */
export const SECRET_PATTERN = /^[A-Za-z0-9_-]{43}$/

export function createSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** What is stored in place of a secret. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
