import * as v from 'valibot'
import {
  isOfCall,
  type Settlement,
  type SettlementVerdict,
} from '../../src/domain/settlement/settlement.ts'
import { SettlementClaimSchema } from '../../src/domain/settlement/settlement-claim.ts'
import { usdAssetOf } from '../../src/domain/settlement/usd-assets.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { SettlementCheckTable, Store } from '../store/schema/store.ts'
import { confirmationsOf, type LookUp, readSolanaSettlement } from './chain-reader.ts'
import { hasEarlierClaim, insertSettlement, updateCheck } from './check-store.ts'
import { readEvmReturns, readEvmSettlement } from './evm-reader.ts'
import { type JsonRpc, RpcError } from './json-rpc.ts'
import { insertTransfers } from './settlement-rows.ts'

export interface VerifyParts {
  store: Store
  clock: Clock
  log: Log
  nodes: (network: string) => JsonRpc | null
  /** `UNSAFE_ALLOW_PRIVATE_TARGETS`: test networks count, and one block is enough. */
  allowTestCoins: boolean
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const RETRY_MS = [2_000, 5_000, 15_000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 6 * HOUR_MS]
/** A settlement that cannot be found for so long never happened. */
const GIVE_UP_MS = 7 * 24 * HOUR_MS
/** When money that went back to the payer is looked for once more. */
const REVISIT_MS = 24 * HOUR_MS

const StringsSchema = v.array(v.string())

/** One look at one check: counted, refused, or put back with a longer wait. */
export async function verifyCheck(parts: VerifyParts, check: SettlementCheckTable): Promise<void> {
  const { store, clock, log, nodes, allowTestCoins } = parts
  const claim = v.parse(SettlementClaimSchema, JSON.parse(check.claim))
  const lookUp = {
    claim,
    payouts: v.parse(StringsSchema, JSON.parse(check.payouts)),
    asset: usdAssetOf(claim.network, { allowTestCoins }),
    confirmations: confirmationsOf(claim.network, { allowTestCoins }),
  }
  const node = nodes(claim.network)
  const verdict = await lookAt(node, lookUp, log)
  if (verdict.outcome === 'wait') return putBack(store, check, verdict.reason, clock.now())
  if (verdict.outcome === 'refused')
    return updateCheck(store, check.id, { state: 'refused', reason: verdict.reason })
  const settlement = { ...verdict.settlement, listing_id: check.listing_id }
  if (check.state === 'waiting') {
    if (!isOfCall(settlement.at, { startedAt: check.called_at, endedAt: check.answered_at }))
      return updateCheck(store, check.id, { state: 'refused', reason: 'outside_call' })
    if (await hasEarlierClaim(store, check))
      return putBack(store, check, 'earlier_claim', clock.now())
  }
  await noteReturns(parts, node, settlement, lookUp)
  if (check.state === 'counted') return updateCheck(store, check.id, { state: 'done' })
  const isNew = await insertSettlement(store, settlement)
  await updateCheck(
    store,
    check.id,
    isNew
      ? { state: 'counted', reason: null, not_before: clock.now() + REVISIT_MS, attempts: 0 }
      : { state: 'refused', reason: 'already_counted' },
  )
  if (isNew) log.info('settlement.counted', { listing: check.listing_id, network: claim.network })
}

async function lookAt(node: JsonRpc | null, lookUp: LookUp, log: Log): Promise<SettlementVerdict> {
  if (node === null) return { outcome: 'wait', reason: 'rpc_unavailable' }
  const { claim } = lookUp
  try {
    return claim.family === 'evm'
      ? await readEvmSettlement(node, { ...lookUp, claim })
      : await readSolanaSettlement(node, { ...lookUp, claim })
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    log.error('settlement.rpc', { network: claim.network, reason: error.message })
    return { outcome: 'wait', reason: 'rpc_unavailable' }
  }
}

/** Wash rules want to know what went back. A node that will not tell costs no settlement. */
async function noteReturns(
  { store, log }: VerifyParts,
  node: JsonRpc | null,
  settlement: Settlement,
  lookUp: LookUp,
): Promise<void> {
  if (node === null || lookUp.claim.family !== 'evm') return
  try {
    await insertTransfers(store.db, await readEvmReturns(node, settlement, lookUp))
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    log.error('settlement.returns', { network: settlement.network, reason: error.message })
  }
}

async function putBack(store: Store, check: SettlementCheckTable, reason: string, now: number) {
  if (check.state === 'counted') return updateCheck(store, check.id, { state: 'done', reason })
  if (now - check.created_at > GIVE_UP_MS)
    return updateCheck(store, check.id, { state: 'given_up', reason })
  const wait = RETRY_MS[Math.min(check.attempts, RETRY_MS.length - 1)] ?? HOUR_MS
  await updateCheck(store, check.id, {
    reason,
    not_before: now + wait,
    attempts: check.attempts + 1,
  })
}
