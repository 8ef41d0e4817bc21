import type { Transaction } from 'kysely'
import type { UsdAsset } from '../../src/domain/settlement/usd-assets.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { type JsonRpc, RpcError } from '../settlements/json-rpc.ts'
import type { Store, Tables } from '../store/store.ts'
import type { MeteredPayout } from './meter-rows.ts'

/** One chain to be metered, and everything needed for it. */
export interface ChainWork {
  network: string
  asset: UsdAsset
  payouts: readonly MeteredPayout[]
  rpc: JsonRpc
  store: Store
  clock: Clock
  log: Log
  /** Confirmations before a payment counts (EVM). */
  confirmations: number
  /** Read again from this moment, milliseconds; null: go on from where the last run ended. */
  since: number | null
  /** Called between steps. @throws MeterStopped when the work must end here */
  onStep(): Promise<void>
  /**
   * One transaction that holds the meter's job. A process may be suspended between its last check
   * and this: it must not add older rows to what another one wrote meanwhile.
   *
   * @throws MeterStopped when another process took the job; then nothing was written
   */
  write(change: (trx: Transaction<Tables>) => Promise<void>): Promise<void>
}

/** What one run did on one chain. */
export interface ChainTally {
  /** Payments recorded, including those known before. */
  payments: number
  /** Blocks (EVM) or transactions (Solana) read. */
  read: number
}

/** The run was asked to end, or another process took its job. What was written stays. */
export class MeterStopped extends Error {
  override name = 'MeterStopped'
}

const DAY_MS = 86_400_000

/** How far back a payout is read when its meter starts: the window of the score. */
export const FIRST_READ_MS = 30 * DAY_MS

/** More than any of the coins has in circulation. */
const MOST_USD = 1e12

/** @throws RpcError for more than exists: nothing else from such a node can be trusted */
export function toUsd(amount: bigint, { decimals }: UsdAsset): number {
  const usd = Number(amount) / 10 ** decimals
  if (!(usd <= MOST_USD)) throw new RpcError('eth_getLogs: a payment larger than the supply')
  return usd
}
