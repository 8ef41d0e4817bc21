import * as v from 'valibot'
import type { SettlementVerdict } from '../../src/domain/settlement/settlement.ts'
import type { SettlementClaim } from '../../src/domain/settlement/settlement-claim.ts'
import {
  hasSignatureOf,
  ParsedTransactionSchema,
  readSolanaPayment,
} from '../../src/domain/settlement/solana-payments.ts'
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

/** A final transaction, its instructions told apart. @returns null where the node has none */
export async function readParsed(rpc: JsonRpc, signature: string) {
  const options = {
    encoding: 'jsonParsed',
    commitment: 'finalized',
    maxSupportedTransactionVersion: 0,
  }
  const found = await rpc.call(
    'getTransaction',
    [signature, options],
    v.nullable(ParsedTransactionSchema),
  )
  if (found !== null && found.transaction.signatures[0] !== signature)
    throw new RpcError('getTransaction: not the transaction that was asked for')
  return found
}

/**
 * Does a Solana transaction prove the claimed payment? The caller sent it partly signed, and the one
 * who pays the fee adds a signature and nothing else: so the payer's signature ties it to this call.
 * Only finalised transactions are seen, so there are no confirmations to count.
 *
 * Known limit: money that comes back to a payer is not traced here; `round_trip` and
 * `funded_by_payout` know EVM transfers only.
 *
 * @throws RpcError when the node cannot say
 */
export async function readSolanaSettlement(
  rpc: JsonRpc,
  { claim, payouts, asset }: LookUp<Extract<SettlementClaim, { family: 'solana' }>>,
): Promise<SettlementVerdict> {
  const { network, transaction, authorised } = claim
  await assertCluster(rpc, network)
  if (asset === null) return { outcome: 'refused', reason: 'asset_not_allowed' }
  const found = await readParsed(rpc, transaction)
  if (found === null) return { outcome: 'wait', reason: 'not_mined' }
  const settlement = readSolanaPayment(found, { network, wallets: payouts, coin: asset })
  if (settlement === null) return { outcome: 'refused', reason: 'no_matching_transfer' }
  return hasSignatureOf(authorised, found, settlement.payer)
    ? { outcome: 'counted', settlement }
    : { outcome: 'refused', reason: 'consent_not_found' }
}

/** Blocks that make a payment final enough to count; deep reorganisations are older chains' habit. */
const CONFIRMATIONS: Record<string, number> = { 'eip155:1': 12, 'eip155:137': 128 }
const USUAL_CONFIRMATIONS = 24

/** One block is enough for coins of test networks, which only trials count. */
export function confirmationsOf(network: string, rules: { allowTestCoins: boolean }): number {
  return rules.allowTestCoins ? 1 : (CONFIRMATIONS[network] ?? USUAL_CONFIRMATIONS)
}
