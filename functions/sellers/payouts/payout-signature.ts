import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import { decodeBase58 } from '../../../src/domain/settlement/base58.ts'
import { type JsonRpc, RpcError } from '../../settlements/json-rpc.ts'

/**
 * The signer of a text. EVM wallets sign it as EIP-191 "personal" text, Solana wallets sign its
 * bytes. None of these throws on a stranger's input.
 */

/** EIP-191 version 0x45: the prefix that keeps a text's signature from being a transaction's. */
export function hashPersonalText(text: string): Uint8Array {
  const bytes = utf8ToBytes(text)
  return keccak_256(
    concatBytes(utf8ToBytes(`\u0019Ethereum Signed Message:\n${bytes.length}`), bytes),
  )
}

const SIGNATURE = /^0x[0-9a-fA-F]{130}$/

/**
 * The address that signed a text, lower case; null for anything that is not a signature.
 *
 * @param signature r, s and v (27, 28, 0 or 1): 65 bytes of hex
 */
export function recoverSigner(text: string, signature: string): string | null {
  if (!SIGNATURE.test(signature)) return null
  const bytes = hexToBytes(signature.slice(2))
  const v = bytes[64] ?? 0
  const recovery = v >= 27 ? v - 27 : v
  if (recovery > 1) return null
  try {
    // EIP-2: of the two valid forms of a signature, wallets write only the one with the lower s.
    if (secp256k1.Signature.fromBytes(bytes.subarray(0, 64)).hasHighS()) return null
    const ordered = concatBytes(Uint8Array.of(recovery), bytes.subarray(0, 64))
    const key = secp256k1.recoverPublicKey(ordered, hashPersonalText(text), { prehash: false })
    const uncompressed = secp256k1.Point.fromBytes(key).toBytes(false)
    // The last 20 bytes of the hash of the key, less the key's first byte.
    return `0x${bytesToHex(keccak_256(uncompressed.subarray(1)).subarray(-20))}`
  } catch {
    // r or s out of range, or not a point on the curve.
    return null
  }
}

/** @param address base58 public key; @param signature base58, 64 bytes */
export function isSignedBySolana(text: string, address: string, signature: string): boolean {
  const key = decodeBase58(address, 32)
  const signed = decodeBase58(signature, 64)
  if (key === null || signed === null) return false
  try {
    // Strict: a key of small order would "sign" every text.
    const isSigned = ed25519.verify(signed, utf8ToBytes(text), key, { zip215: false })
    return isSigned && !ed25519.Point.fromBytes(key).isSmallOrder()
  } catch {
    return false
  }
}

/** `bytes4(keccak256("isValidSignature(bytes32,bytes)"))`: the selector, and the answer "yes". */
const SELECTOR = '1626ba7e'
const YES = new RegExp(`^0x${SELECTOR}0{56}$`)
const WORD = 64

/** EIP-1271: a contract says whether a signature is its owner's; null when the node cannot tell. */
export async function isSignedByContract(
  rpc: JsonRpc,
  wallet: string,
  hash: Uint8Array,
  signature: string,
): Promise<'yes' | 'no' | 'no_contract' | null> {
  const bytes = signature.slice(2)
  const data = [
    `0x${SELECTOR}`,
    bytesToHex(hash),
    (64).toString(16).padStart(WORD, '0'),
    (bytes.length / 2).toString(16).padStart(WORD, '0'),
    bytes.padEnd(Math.ceil(bytes.length / WORD) * WORD, '0'),
  ].join('')
  try {
    const code = await rpc.call('eth_getCode', [wallet, 'latest'], v.string())
    // An address without code "answers" every call with nothing.
    if (!/^0x[0-9a-f]{2}/i.test(code)) return 'no_contract'
    const said = await rpc.call('eth_call', [{ to: wallet, data }, 'latest'], v.string())
    return YES.test(said) ? 'yes' : 'no'
  } catch (error) {
    if (error instanceof RpcError) return error.kind === 'reverted' ? 'no' : null
    throw error
  }
}
