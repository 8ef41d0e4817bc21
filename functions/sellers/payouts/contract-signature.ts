import { bytesToHex } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import { type JsonRpc, RpcError } from '../../settlements/json-rpc.ts'

/** `bytes4(keccak256("isValidSignature(bytes32,bytes)"))`: the selector, and what "yes" is. */
const SELECTOR = '1626ba7e'
const YES = new RegExp(`^0x${SELECTOR}0{56}$`)
const WORD = 64

/**
 * EIP-1271: a wallet that is a contract says itself whether a signature is its owner's.
 *
 * @returns null when the node cannot say
 */
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
    if (error instanceof RpcError) return error.isRevert ? 'no' : null
    throw error
  }
}
