import * as v from 'valibot'
import type { SettlementVerdict } from './settlement.ts'
import type { SettlementClaim } from './settlement-claim.ts'
import type { UsdAsset } from './usd-assets.ts'

/**
 * Does a transaction receipt prove the claimed payment? Only logs are looked at: who sent the
 * transaction, and to which contract, is the facilitator's business (multicalls, smart wallets).
 */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
export const AUTHORIZATION_USED_TOPIC =
  '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

const hex = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]*$/), v.toLowerCase())
export const QuantitySchema = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-fA-F]{1,16}$/),
  v.transform(Number),
)

export const LogSchema = v.object({
  address: hex,
  topics: v.array(hex),
  data: hex,
  logIndex: QuantitySchema,
  blockNumber: QuantitySchema,
  transactionHash: hex,
})
export type EvmLog = v.InferOutput<typeof LogSchema>

export const ReceiptSchema = v.object({
  transactionHash: hex,
  blockHash: hex,
  blockNumber: QuantitySchema,
  status: hex,
  logs: v.array(LogSchema),
})
export type EvmReceipt = v.InferOutput<typeof ReceiptSchema>

/** What the chain says around the receipt. */
export interface EvmChainFacts {
  /** Height of the newest block. */
  head: number
  /** The canonical block at the receipt's height. */
  block: { hash: string; timestamp: number }
  /** Blocks, the receipt's included, that must stand before it counts. */
  confirmations: number
}

type EvmClaim = Extract<SettlementClaim, { family: 'evm' }>

/**
 * @param payouts the listing's published addresses on this chain, lower case.
 */
export function judgeEvmSettlement(
  claim: EvmClaim,
  receipt: EvmReceipt,
  facts: EvmChainFacts,
  { payouts, asset }: { payouts: readonly string[]; asset: UsdAsset | null },
): SettlementVerdict {
  if (asset === null) return { outcome: 'refused', reason: 'asset_not_allowed' }
  if (receipt.transactionHash !== claim.transaction || receipt.status !== '0x1')
    return { outcome: 'refused', reason: 'transaction_failed' }
  const used = receipt.logs.find((log) => isUseOf(log, claim, asset))
  if (used === undefined) return { outcome: 'refused', reason: 'authorization_not_used' }
  // A batch may hold several payments of one payer; the token writes the transfer after the use.
  const transfer = receipt.logs
    .filter((log) => log.logIndex > used.logIndex)
    .sort((one, other) => one.logIndex - other.logIndex)
    .find((log) => isPaymentOf(log, claim, asset, payouts))
  if (transfer === undefined) return { outcome: 'refused', reason: 'no_matching_transfer' }
  if (facts.block.hash !== receipt.blockHash) return { outcome: 'wait', reason: 'reorganised' }
  if (facts.head - receipt.blockNumber + 1 < facts.confirmations)
    return { outcome: 'wait', reason: 'too_few_confirmations' }
  return {
    outcome: 'counted',
    settlement: {
      network: claim.network,
      transaction: claim.transaction,
      log_index: transfer.logIndex,
      payer: claim.payer,
      payee: toAddress(transfer.topics[2]),
      usd: Number(claim.amount) / 10 ** asset.decimals,
      amount: claim.amount,
      at: facts.block.timestamp * 1000,
      block: receipt.blockNumber,
    },
  }
}

/** @example toAddress('0x000…00abc…') → '0x' and the last 40 digits */
export function toAddress(topic: string | undefined): string {
  return `0x${(topic ?? '').slice(-40)}`
}

/** @example toTopic('0xabc…') → '0x' and 64 digits */
export function toTopic(address: string): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}

function isUseOf(log: EvmLog, claim: EvmClaim, asset: UsdAsset): boolean {
  const [event, authorizer, nonce] = log.topics
  return (
    log.address === asset.address &&
    event === AUTHORIZATION_USED_TOPIC &&
    authorizer === toTopic(claim.payer) &&
    nonce === claim.nonce
  )
}

function isPaymentOf(
  log: EvmLog,
  claim: EvmClaim,
  asset: UsdAsset,
  payouts: readonly string[],
): boolean {
  const [event, from, to, ...more] = log.topics
  return (
    log.address === asset.address &&
    event === TRANSFER_TOPIC &&
    more.length === 0 &&
    from === toTopic(claim.payer) &&
    to !== undefined &&
    payouts.some((payout) => to === toTopic(payout)) &&
    /^0x[0-9a-f]{64}$/.test(log.data) &&
    BigInt(log.data) === BigInt(claim.amount)
  )
}
