import type {
  Settlement,
  SettlementVerdict,
  Transfer,
} from '../../src/domain/settlement/settlement.ts'
import type { SettlementClaim } from '../../src/domain/settlement/settlement-claim.ts'
import type { UsdAsset } from '../../src/domain/settlement/usd-assets.ts'
import type { JsonRpc } from './json-rpc.ts'

/** What is to be looked up, and by which rules. */
export interface LookUp<Claim extends SettlementClaim = SettlementClaim> {
  claim: Claim
  /** The listing's published addresses on the claim's chain. */
  payouts: readonly string[]
  asset: UsdAsset | null
  /** Blocks that must stand before a payment counts (EVM). */
  confirmations: number
}

/** One family of chains. Rejects with `RpcError` when the node cannot say. */
export interface ChainReader<Claim extends SettlementClaim> {
  readSettlement(rpc: JsonRpc, lookUp: LookUp<Claim>): Promise<SettlementVerdict>
  /** What payout wallets sent to the payer, as far back as the node tells; for the wash rules. */
  readReturns(
    rpc: JsonRpc,
    settled: Omit<Settlement, 'listing_id'>,
    lookUp: Omit<LookUp, 'claim'>,
  ): Promise<Transfer[]>
}

/** Blocks that make a payment final enough to count; deep reorganisations are older chains' habit. */
const CONFIRMATIONS: Record<string, number> = { 'eip155:1': 12, 'eip155:137': 128 }
const USUAL_CONFIRMATIONS = 24

/** One block is enough for coins of test networks, which only trials count. */
export function confirmationsOf(network: string, rules: { allowTestCoins: boolean }): number {
  return rules.allowTestCoins ? 1 : (CONFIRMATIONS[network] ?? USUAL_CONFIRMATIONS)
}
