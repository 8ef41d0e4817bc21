import {
  amountOf,
  type EvmCall,
  type EvmLog,
  type EvmReceipt,
  toAddress,
} from './schemes/evm-log.ts'
import type { Shown, ShownPayment } from './schemes/evm-rule.ts'
import { EVM_RULES } from './schemes/scheme-rules.ts'
import type { RefusalReason, SettlementVerdict } from './settlement.ts'
import { type EvmClaim, keyOf } from './settlement-claim.ts'
import type { UsdAsset } from './usd-assets.ts'

export interface EvmChainFacts {
  /** Height of the newest block. */
  head: number
  /** The canonical block at the receipt's height. */
  block: { hash: string; at: number }
  /** Blocks, the receipt's included, that must stand before it counts. */
  confirmations: number
}

/** Who sent it is the facilitator's business. @param payouts published on this chain, lower case */
export function judgeEvmSettlement(
  claim: EvmClaim,
  { receipt, call }: { receipt: EvmReceipt; call: EvmCall | null },
  facts: EvmChainFacts,
  { payouts, asset }: { payouts: readonly string[]; asset: UsdAsset | null },
): SettlementVerdict {
  if (asset === null) return { outcome: 'refused', reason: 'asset_not_allowed' }
  if (receipt.transactionHash !== claim.transaction || receipt.status !== '0x1')
    return { outcome: 'refused', reason: 'transaction_failed' }
  const { address: coin, decimals } = asset
  const found = findClaimed(claim, { logs: receipt.logs, call, coin }, payouts)
  if (typeof found === 'string') return { outcome: 'refused', reason: found }
  if (facts.block.hash !== receipt.blockHash) return { outcome: 'wait', reason: 'reorganised' }
  if (facts.head - receipt.blockNumber + 1 < facts.confirmations)
    return { outcome: 'wait', reason: 'too_few_confirmations' }
  const { log, payer, scheme } = found
  const amount = amountOf(log).toString()
  return {
    outcome: 'counted',
    settlement: {
      network: claim.network,
      transaction: claim.transaction,
      log_index: log.logIndex,
      payer,
      payee: toAddress(log.topics[2]),
      usd: Number(amount) / 10 ** decimals,
      amount,
      at: facts.block.at,
      block: receipt.blockNumber,
      scheme,
    },
  }
}

/** What the caller signed is what the chain tells of it; a share of it may go to others. */
function findClaimed(
  claim: EvmClaim,
  shown: Shown<EvmLog>,
  payouts: readonly string[],
): ShownPayment<EvmLog> | RefusalReason {
  const key = keyOf(claim)
  const own = EVM_RULES[claim.scheme].read(shown).filter((payment) => payment.key === key)
  if (own.length === 0) return 'consent_not_found'
  const most = BigInt(claim.amount)
  const found = own.find(
    ({ log, agreed }) =>
      payouts.includes(toAddress(log.topics[2])) &&
      amountOf(log) <= most &&
      (agreed === null || agreed === most),
  )
  return found ?? 'no_matching_transfer'
}
