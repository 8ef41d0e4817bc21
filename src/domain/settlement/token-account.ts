import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { decodeBase58, encodeBase58 } from './base58.ts'
import { TOKEN } from './solana-payments.ts'

const ACCOUNT_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
const KEY_BYTES = 32

/**
 * The account that holds a wallet's coins of one mint on Solana: the address derived from both that
 * no key signs for (a program derived address, with the highest bump whose hash is not a point).
 *
 * @returns null where wallet or mint is not a key
 */
export function tokenAccountOf(wallet: string, mint: string): string | null {
  const seeds = [wallet, TOKEN, mint].map((key) => decodeBase58(key, KEY_BYTES))
  const program = decodeBase58(ACCOUNT_PROGRAM, KEY_BYTES)
  const [owner, token, coin] = seeds
  if (!owner || !token || !coin || !program) return null
  const end = concatBytes(program, utf8ToBytes('ProgramDerivedAddress'))
  for (let bump = 255; bump >= 0; bump -= 1) {
    const hash = sha256(concatBytes(owner, token, coin, Uint8Array.of(bump), end))
    if (!isPoint(hash)) return encodeBase58(hash)
  }
  return null
}

function isPoint(bytes: Uint8Array): boolean {
  try {
    // As Solana's own library decompresses: a coordinate past the field's prime is taken modulo it.
    ed25519.Point.fromBytes(bytes, true)
    return true
  } catch {
    return false
  }
}
