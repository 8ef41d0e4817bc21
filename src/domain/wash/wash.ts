import type { Settlement, Transfer } from '../settlement/settlement.ts'
import { findBursts } from './wash-burst.ts'
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

/**
 * Wash exclusions of `hub-trust-v0.1`, for one listing whose transactions are known.
 * Whoever pays himself is no buyer. What is excluded here is counted nowhere; only its flag shows.
 *
 * @param settlements of one listing, in any order.
 * @param wallets the seller's: published payouts and claimed ones, on any chain.
 * @param transfers between wallets we know of; what is unknown excludes nothing.
 */
export function excludeWash(
  settlements: readonly Settlement[],
  wallets: readonly string[],
  transfers: readonly Transfer[],
): WashResult {
  const own = new Set(wallets.map(normalizeWallet))
  const fromSeller = transfers.filter(
    (transfer) => own.has(normalizeWallet(transfer.from)) && !own.has(normalizeWallet(transfer.to)),
  )
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
  const funded = findFunded(rest, fromSeller)
  exclude('funded_by_payout', ({ payer }) => funded.has(normalizeWallet(payer)))
  const returned = findReturned(rest, fromSeller)
  exclude('round_trip', ({ payer }) => returned.has(normalizeWallet(payer)))
  const burst = findBursts(rest, transfers)
  exclude('burst_cohort', (settlement) => burst.has(settlement))
  return {
    independent: rest,
    flags: WASH_FLAGS.flatMap((flag) => {
      const count = flags.get(flag)
      return count === undefined ? [] : [{ flag, settlements: count }]
    }),
  }
}

/** Payers that had money of the seller's before they first paid. */
function findFunded(settlements: readonly Settlement[], fromSeller: readonly Transfer[]) {
  const firstPaid = new Map<string, Settlement>()
  for (const settlement of settlements) {
    const wallet = normalizeWallet(settlement.payer)
    const known = firstPaid.get(wallet)
    if (known === undefined || isBefore(settlement, known)) firstPaid.set(wallet, settlement)
  }
  const funded = new Set<string>()
  for (const transfer of fromSeller) {
    const first = firstPaid.get(normalizeWallet(transfer.to))
    if (first !== undefined && isBefore(transfer, first)) funded.add(normalizeWallet(transfer.to))
  }
  return funded
}

/**
 * Blocks carry whole seconds, and several may share one: within a second only the logs of one
 * transaction have a known order. Money that moves in the second of the payment may as well have
 * gone back as come before, so it funds nobody; what went back is the round trip's business.
 */
function isBefore(
  one: Pick<Settlement, 'at' | 'transaction' | 'log_index'>,
  other: Pick<Settlement, 'at' | 'transaction' | 'log_index'>,
): boolean {
  if (one.at !== other.at) return one.at < other.at
  return one.transaction === other.transaction && one.log_index < other.log_index
}

/** Payers that got back most of what they paid. */
function findReturned(settlements: readonly Settlement[], fromSeller: readonly Transfer[]) {
  const paid = new Map<string, bigint>()
  for (const { payer, amount } of settlements) add(paid, normalizeWallet(payer), BigInt(amount))
  const back = new Map<string, bigint>()
  for (const { to, amount } of fromSeller) add(back, normalizeWallet(to), BigInt(amount))
  const percent = BigInt(Math.round(WASH.roundTripShare * 100))
  const returned = new Set<string>()
  for (const [wallet, sum] of paid)
    if ((back.get(wallet) ?? 0n) * 100n >= sum * percent) returned.add(wallet)
  return returned
}

function add(sums: Map<string, bigint>, key: string, value: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + value)
}
