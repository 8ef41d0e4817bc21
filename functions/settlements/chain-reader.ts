import * as v from 'valibot'
import { ParsedTransactionSchema } from '../../src/domain/settlement/solana-payments.ts'
import { type JsonRpc, RpcError } from './json-rpc.ts'

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

/** Blocks that make a payment final enough to count; deep reorganisations are older chains' habit. */
const CONFIRMATIONS: Record<string, number> = { 'eip155:1': 12, 'eip155:137': 128 }
const USUAL_CONFIRMATIONS = 24

/** One block is enough for coins of test networks, which only trials count. */
export function confirmationsOf(network: string, rules: { allowTestCoins: boolean }): number {
  return rules.allowTestCoins ? 1 : (CONFIRMATIONS[network] ?? USUAL_CONFIRMATIONS)
}
