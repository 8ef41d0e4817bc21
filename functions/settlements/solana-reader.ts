import * as v from 'valibot'
import type { SettlementClaim } from '../../src/domain/settlement/settlement-claim.ts'
import {
  judgeSolanaSettlement,
  SolanaTransactionSchema,
} from '../../src/domain/settlement/solana-settlement.ts'
import type { ChainReader } from './chain-reader.ts'
import { RpcError } from './json-rpc.ts'

/** A CAIP-2 reference is the first 32 characters of the genesis hash. */
const REFERENCE_LENGTH = 32

/**
 * Solana. Only finalised transactions are seen, so there are no confirmations to count.
 *
 * Known limit: money that comes back to a payer is not traced here; `round_trip` and
 * `funded_by_payout` know EVM transfers only.
 */
export const solanaReader: ChainReader<Extract<SettlementClaim, { family: 'solana' }>> = {
  async readSettlement(rpc, { claim, payouts, asset }) {
    const genesis = await rpc.call('getGenesisHash', [], v.string())
    if (`solana:${genesis.slice(0, REFERENCE_LENGTH)}` !== claim.network)
      throw new RpcError(`RPC_URLS: the node under ${claim.network} is of another cluster`)
    const found = await rpc.call(
      'getTransaction',
      [
        claim.transaction,
        { encoding: 'base64', commitment: 'finalized', maxSupportedTransactionVersion: 0 },
      ],
      v.nullable(SolanaTransactionSchema),
    )
    if (found === null) return { outcome: 'wait', reason: 'not_mined' }
    return judgeSolanaSettlement(claim, found, { payouts, asset })
  },

  readReturns: async () => [],
}
