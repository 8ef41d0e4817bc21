import { fromBase64 } from '../relay/base64-json.ts'
import { decodeBase58, encodeBase58 } from './base58.ts'
import { TOKEN } from './solana-payments.ts'

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** A message begins with its version, if any, and the counts of signers and read-only accounts. */
const HEADER_BYTES = 3
const VERSIONED = 0x80
const TRANSFER_CHECKED = 12
/** A packet on Solana (bytes): no transaction is longer. */
const MAX_BYTES = 1232

export interface SolanaTransfer {
  /** Wallet that signs for the coins, and the account that gets them: base58. */
  authority: string
  destination: string
}

/**
 * The one checked transfer of a transaction as a client signs it for x402's `exact`, before anybody sends it.
 *
 * @param encoded base64 of the transaction, of either version
 * @returns null unless it has exactly one, whose accounts are all in the transaction and not in a table on the chain
 */
export function readSolanaTransfer(encoded: unknown): SolanaTransfer | null {
  if (typeof encoded !== 'string' || encoded.length > MAX_BYTES * 2) return null
  try {
    const { keys, instructions } = readTransaction(fromBase64(encoded))
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

/** @throws where it ends too early */
function readTransaction(bytes: Uint8Array) {
  let at = 0
  const take = (size: number) => {
    if (at + size > bytes.length) throw new Error('a transaction that ends in the middle')
    at += size
    return bytes.subarray(at - size, at)
  }
  const byte = () => take(1)[0] ?? 0
  /** Seven bits per byte, the lowest first. */
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
