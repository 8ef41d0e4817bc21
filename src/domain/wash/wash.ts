import type { Settlement } from '../settlement/settlement.ts'
import type { TransferIndex } from './chain-order.ts'
import { findBursts } from './wash-burst.ts'
import { findFunded } from './wash-funding.ts'
import { normalizeWallet, WASH } from './wash-rules.ts'

export const WASH_FLAGS = [
  'self_payment',
  'funded_by_payout',
  'round_trip',
  'burst_cohort',
] as const
export type WashFlagId = (typeof WASH_FLAGS)[number]

export interface WashResult {
  independent: Settlement[]
  /** One entry a flag that excluded something, in the order of `WASH_FLAGS`. */
  flags: { flag: WashFlagId; settlements: number }[]
}

/** What is known around one listing's payments; what is unknown excludes nothing. */
export interface WashKnowledge {
  /** The seller's: published payouts and claimed ones, on any chain. */
  wallets: readonly string[]
  /** Between wallets we know of. */
  transfers: TransferIndex
  /** Whether a wallet (as `normalizeWallet` writes it) ever paid somebody else. */
  hasPaidOthers: (wallet: string) => boolean
}

/**
 * Wash exclusions of `hub-trust-v0.1`, for one listing whose transactions are known.
 * Whoever pays himself is no buyer. What is excluded here is counted nowhere; only its flag shows.
 *
 * @param settlements of one listing, in any order.
 */
export function excludeWash(
  settlements: readonly Settlement[],
  { wallets, transfers, hasPaidOthers }: WashKnowledge,
): WashResult {
  const own = new Set(wallets.map(normalizeWallet))
  const flags = new Map<WashFlagId, number>()
  let rest = [...settlements]
  const exclude = (flag: WashFlagId, isWash: (settlement: Settlement) => boolean) => {
    const kept = rest.filter((settlement) => !isWash(settlement))
    if (kept.length < rest.length) flags.set(flag, rest.length - kept.length)
    rest = kept
  }
  exclude('self_payment', ({ payer, payee }) => {
    const wallet = normalizeWallet(payer)
    return own.has(wallet) || wallet === normalizeWallet(payee)
  })
  const funded = findFunded(rest, own, transfers)
  exclude('funded_by_payout', ({ payer }) => funded.has(normalizeWallet(payer)))
  const returned = findReturned(rest, own, transfers)
  exclude('round_trip', ({ payer }) => returned.has(normalizeWallet(payer)))
  const burst = findBursts(rest, transfers, hasPaidOthers)
  exclude('burst_cohort', (settlement) => burst.has(settlement))
  return {
    independent: rest,
    flags: WASH_FLAGS.flatMap((flag) => {
      const count = flags.get(flag)
      return count === undefined ? [] : [{ flag, settlements: count }]
    }),
  }
}

/** Payers that got back most of what they paid. */
function findReturned(
  settlements: readonly Settlement[],
  own: ReadonlySet<string>,
  transfers: TransferIndex,
): Set<string> {
  const paid = new Map<string, bigint>()
  for (const { payer, amount } of settlements) {
    const wallet = normalizeWallet(payer)
    paid.set(wallet, (paid.get(wallet) ?? 0n) + BigInt(amount))
  }
  const percent = BigInt(Math.round(WASH.roundTripShare * 100))
  const returned = new Set<string>()
  for (const [wallet, sum] of paid) {
    const back = transfers
      .to(wallet)
      .filter(({ from }) => own.has(normalizeWallet(from)))
      .reduce((total, { amount }) => total + BigInt(amount), 0n)
    if (back * 100n >= sum * percent) returned.add(wallet)
  }
  return returned
}
