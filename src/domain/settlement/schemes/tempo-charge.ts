import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { EvmRule } from './evm-log.ts'
import { amountOf, type EvmLog, toAddress } from './evm-log.ts'

/**
 * MPP `charge` on Tempo: the coin writes a transfer and, next to it, the same with a memo. The memo
 * names the seller's realm, which is the host the buyer called, and the challenge. So it ties the
 * payment to this seller and this call, and the payer is the signer of the transaction; somebody
 * else may pay its fee.
 *
 * A forger can write any memo, but only beside real money of his own that the seller keeps. A share of
 * the price that goes to others has no such memo; a zero amount moves nothing.
 */
export const MEMO_TRANSFER_TOPIC =
  '0x57bc7354aa85aed339e000bccffabbc529466af35f0772c8f8ee1145927de7f0'

/** Tempo and its test network. */
export function isTempo(network: string): boolean {
  return network === 'eip155:4217' || network === 'eip155:42431'
}

/** The first bytes of keccak("mpp"), and the version. */
const TAG = 'ef1ed71201'
const REALM_BYTES = 10

const MEMO = new RegExp(`^0x${TAG}([0-9a-f]{${REALM_BYTES * 2}})[0-9a-f]{34}$`)

/** The mark of the realm in the memo of a payment; null for every other log. */
export function readRealmOf({ address, topics, data }: EvmLog, coin: string): string | null {
  const isMemoTransfer =
    address === coin &&
    topics[0] === MEMO_TRANSFER_TOPIC &&
    topics.length === 4 &&
    /^0x[0-9a-f]{64}$/.test(data) &&
    amountOf({ data }) > 0n
  return (isMemoTransfer && MEMO.exec(topics[3] ?? '')?.[1]) || null
}

/** How a memo writes a realm. @example markOfRealm('api.example.com') → 20 hexadecimal digits */
export function markOfRealm(realm: string): string {
  return bytesToHex(keccak_256(utf8ToBytes(realm)).subarray(0, REALM_BYTES))
}

export const tempoCharge: EvmRule = {
  read({ logs, call, coin }) {
    return logs.flatMap((log) => {
      const payer = toAddress(log.topics[1])
      // A paying contract, or somebody's allowance, is not the wallet that signed.
      if (readRealmOf(log, coin) === null || call?.from !== payer) return []
      return [{ scheme: 'tempo_charge', log, payer, consent: log }]
    })
  },
}
