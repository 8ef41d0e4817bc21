import * as v from 'valibot'
import {
  AddressSchema,
  amountOf,
  type BlockLog,
  type EvmLog,
  HashSchema,
  isTransferOf,
  toAddress,
  toTopic,
} from './evm-log.ts'
import type { EvmRule } from './evm-rule.ts'

/**
 * Transfer authorisations (EIP-3009): x402 `exact` and MPP `evm`. The token writes `AuthorizationUsed`
 * and, as its very next log, the transfer that was authorised: so a one-unit authorisation beside an
 * ordinary transfer pays for nothing, and each authorisation for one transfer.
 *
 * A forger could write either event in a contract of his own: both must be the coin's.
 */
export const AUTHORIZATION_USED_TOPIC =
  '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

export const units = v.pipe(v.string(), v.regex(/^[1-9]\d{0,77}$/))

/** What the caller signed, as x402 and MPP write it. */
export const AuthorizationSchema = v.object({
  from: AddressSchema,
  value: units,
  nonce: HashSchema,
})

export const Eip3009ClaimSchema = v.object({
  family: v.literal('evm'),
  scheme: v.literal('eip3009'),
  network: v.string(),
  /** 0x and 64 hex digits, lower case. */
  transaction: v.string(),
  payer: v.string(),
  /** Smallest units of the token, decimal text. */
  amount: v.string(),
  nonce: v.string(),
})

export const eip3009: EvmRule<v.InferOutput<typeof Eip3009ClaimSchema>> = {
  needsCall: false,
  keyOf: ({ payer, nonce }) => `${payer} ${nonce}`,
  find({ payer, nonce, amount }, { logs, coin, payouts }) {
    const used = logs.find(
      ({ address, topics }) =>
        address === coin &&
        topics[0] === AUTHORIZATION_USED_TOPIC &&
        topics[1] === toTopic(payer) &&
        topics[2] === nonce,
    )
    if (used === undefined) return 'authorization_not_used'
    const log = logs.find(({ logIndex }) => logIndex === used.logIndex + 1)
    const isPayment =
      log !== undefined &&
      isTransferOf(log, coin) &&
      log.topics[1] === toTopic(payer) &&
      payouts.includes(toAddress(log.topics[2])) &&
      amountOf(log) === BigInt(amount)
    return isPayment ? { log, payer } : 'no_matching_transfer'
  },
}

export interface PairedPayments<Log extends BlockLog> {
  /** Transfers that are EIP-3009 payments. */
  paid: Log[]
  /** Uses that paid somebody who is not among the transfers. */
  elsewhere: Log[]
}

/**
 * Which transfers were paid by authorisation.
 *
 * @param transfers of one token, to the payouts that are read
 * @param uses `AuthorizationUsed` of the same token, by the senders of those transfers
 */
export function pairAuthorizations<Log extends BlockLog>(
  transfers: readonly Log[],
  uses: readonly Log[],
): PairedPayments<Log> {
  const open = new Map(uses.map((use) => [placeOf(use, use.logIndex), use]))
  const paid = transfers.filter((transfer) => {
    const place = placeOf(transfer, transfer.logIndex - 1)
    const isPaid = open.get(place)?.topics[1] === transfer.topics[1] && amountOf(transfer) > 0n
    if (isPaid) open.delete(place)
    return isPaid
  })
  return { paid, elsewhere: [...open.values()] }
}

/** By wallet, the first block where it used one of these authorisations. */
export function firstUses(uses: readonly EvmLog[]): Map<string, number> {
  const first = new Map<string, number>()
  for (const { topics, blockNumber } of uses) {
    const wallet = toAddress(topics[1])
    first.set(wallet, Math.min(blockNumber, first.get(wallet) ?? blockNumber))
  }
  return first
}

function placeOf({ blockHash, transactionHash }: BlockLog, logIndex: number): string {
  return `${blockHash} ${transactionHash} ${logIndex}`
}
