import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { fromBase64 } from '../wire/json.ts'

/** Base58 as Solana writes keys and signatures. */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** The longest text that is decoded: 64 bytes are at most 88 characters. */
const MAX_LENGTH = 90

/** @returns null if the text is not base58 of exactly this many bytes */
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
export const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

const ACCOUNT_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
const KEY_BYTES = 32

/**
 * The account that holds a wallet's coins of one mint on Solana: an address derived from both, for which
 * no key can sign (a program derived address, with the highest bump whose hash is not a point).
 * @returns null if wallet or mint is not a key
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
    // Like Solana's own library: a coordinate past the field's prime is taken modulo that prime.
    ed25519.Point.fromBytes(bytes, true)
    return true
  } catch {
    return false
  }
}

const SIGNATURE_BYTES = 64
/** A message begins with its version, if any, and the counts of signers and read-only accounts. */
const HEADER_BYTES = 3
const VERSIONED = 0x80
const TRANSFER_CHECKED = 12
/** The size of a Solana packet (bytes): no transaction is longer. */
const MAX_BYTES = 1232

interface SolanaTransfer {
  /** The wallet that signs for the coins, and the account that gets them, in base58. */
  authority: string
  destination: string
}

/**
 * The one checked transfer in a transaction that a client signed for x402's `exact` and that nobody has sent yet.
 * @param encoded base64 of the transaction, of either version
 * @returns null unless it has exactly one such transfer, whose accounts are all in the transaction and not in a table
 *   on the chain
 */
export function readSolanaTransfer(encoded: unknown): SolanaTransfer | null {
  if (typeof encoded !== 'string' || encoded.length > MAX_BYTES * 2) return null
  try {
    const { keys, instructions } = parseTransaction(fromBase64(encoded))
    const transfers = instructions.filter(
      ({ program, data }) => isToken(keys[program]) && data[0] === TRANSFER_CHECKED,
    )
    const [source, _mint, destination, authority] = transfers[0]?.accounts ?? []
    const isOne = transfers.length === 1 && source !== undefined
    const [to, by] = [keys[destination ?? keys.length], keys[authority ?? keys.length]]
    if (!isOne || to === undefined || by === undefined) return null
    return { authority: encodeBase58(by), destination: encodeBase58(to) }
  } catch {
    return null
  }
}

/** @throws if the transaction ends too early */
function parseTransaction(bytes: Uint8Array) {
  let at = 0
  const take = (size: number) => {
    if (at + size > bytes.length) throw new Error('the transaction ends too early')
    at += size
    return bytes.subarray(at - size, at)
  }
  const byte = () => take(1)[0] ?? 0
  /** A number with seven bits in each byte, the lowest first. */
  const length = () => {
    const first = byte()
    return first < 128 ? first : (first & 127) + 128 * byte()
  }
  const list = <Item>(read: () => Item) => Array.from({ length: length() }, read)
  take(length() * SIGNATURE_BYTES)
  take((bytes[at] ?? 0) >= VERSIONED ? HEADER_BYTES + 1 : HEADER_BYTES)
  const keys = list(() => take(KEY_BYTES))
  take(KEY_BYTES)
  const instructions = list(() => ({
    program: byte(),
    accounts: take(length()),
    data: take(length()),
  }))
  return { keys, instructions }
}

const TOKEN_KEY = decodeBase58(TOKEN, KEY_BYTES)

function isToken(key: Uint8Array | undefined): boolean {
  return key?.every((value, at) => value === TOKEN_KEY?.[at]) ?? false
}
