import * as v from 'valibot'
import type { SettlementClaim } from '../../src/domain/settlement/settlement-claim.ts'
import type { UsdAsset } from '../../src/domain/settlement/usd-assets.ts'
import { type JsonRpc, RpcError } from './json-rpc.ts'

/** What is to be looked up, and by which rules. */
export interface LookUp<Claim extends SettlementClaim = SettlementClaim> {
  claim: Claim
  /** The listing's published addresses on the claim's chain. */
  payouts: readonly string[]
  asset: UsdAsset | null
  /** Blocks that must stand before a payment counts (EVM). */
  confirmations: number
}

/** A CAIP-2 reference of Solana is the first 32 characters of the genesis hash. */
const REFERENCE_LENGTH = 32

/** @throws RpcError when the node is of another cluster, or cannot say */
export async function assertCluster(rpc: JsonRpc, network: string): Promise<void> {
  const genesis = await rpc.call('getGenesisHash', [], v.string())
  if (`solana:${genesis.slice(0, REFERENCE_LENGTH)}` !== network)
    throw new RpcError(`RPC_URLS: the node under ${network} is of another cluster`)
}

/** Blocks that make a payment final enough to count; deep reorganisations are older chains' habit. */
const CONFIRMATIONS: Record<string, number> = { 'eip155:1': 12, 'eip155:137': 128 }
const USUAL_CONFIRMATIONS = 24

/** One block is enough for coins of test networks, which only trials count. */
export function confirmationsOf(network: string, rules: { allowTestCoins: boolean }): number {
  return rules.allowTestCoins ? 1 : (CONFIRMATIONS[network] ?? USUAL_CONFIRMATIONS)
}
