import { eip3009 } from './schemes/eip3009.ts'
import { amountOf, type EvmCall, type EvmReceipt, toAddress } from './schemes/evm-log.ts'
import type { EvmEvidence, EvmRule, FoundPayment, RefusalReason } from './schemes/evm-rule.ts'
import { permit2 } from './schemes/permit2.ts'
import { tempoCharge } from './schemes/tempo-charge.ts'
import type { SettlementVerdict } from './settlement.ts'
import type { EvmClaim } from './settlement-claim.ts'
import type { UsdAsset } from './usd-assets.ts'

/** What the chain says around the receipt. */
export interface EvmChainFacts {
  /** Height of the newest block. */
  head: number
  /** The canonical block at the receipt's height. */
  block: { hash: string; at: number }
  /** Blocks, the receipt's included, that must stand before it counts. */
  confirmations: number
}

/** A claim with the rule of its scheme. */
export interface EvmLookUp {
  needsCall: boolean
  key: string
  find(evidence: EvmEvidence): FoundPayment | RefusalReason
}

export function toLookUp(claim: EvmClaim): EvmLookUp {
  switch (claim.scheme) {
    case 'eip3009':
      return bind(eip3009, claim)
    case 'permit2':
      return bind(permit2, claim)
    case 'tempo_charge':
      return bind(tempoCharge, claim)
  }
}

/**
 * Does a transaction prove the claimed payment? Who sent it, and to which contract, is the
 * facilitator's business unless the scheme says otherwise.
 *
 * @param payouts the listing's published addresses on this chain, lower case.
 */
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
  const found = toLookUp(claim).find({ logs: receipt.logs, call, coin, payouts })
  if (typeof found === 'string') return { outcome: 'refused', reason: found }
  if (facts.block.hash !== receipt.blockHash) return { outcome: 'wait', reason: 'reorganised' }
  if (facts.head - receipt.blockNumber + 1 < facts.confirmations)
    return { outcome: 'wait', reason: 'too_few_confirmations' }
  const { log, payer } = found
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
    },
  }
}

function bind<Claim>({ needsCall, keyOf, find }: EvmRule<Claim>, claim: Claim): EvmLookUp {
  return { needsCall, key: keyOf(claim), find: (evidence) => find(claim, evidence) }
}
