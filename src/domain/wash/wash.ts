import type { Transfer } from '../settlement/settlement.ts'
import type { Paid, TransferIndex } from './chain-order.ts'
import { findFirstPayments, findFunders, isSurelyBefore, sumOf } from './chain-order.ts'
import { normalizeWallet, WASH } from './wash-rules.ts'

const DAY_MS = 86_400_000

export const WASH_FLAGS = [
  'self_payment',
  'funded_by_payout',
  'round_trip',
  'burst_cohort',
] as const
export type WashFlagId = (typeof WASH_FLAGS)[number]

/** Known facts around one listing's payments; unknown ones exclude nothing. */
export interface WashKnowledge {
  /** The seller's: published payouts and claimed ones, on any chain. */
  wallets: readonly string[]
  transfers: TransferIndex
  /** Whether a wallet (as `normalizeWallet` writes it) ever paid somebody else. */
  hasPaidOthers: (wallet: string) => boolean
  /** Number of the thirty days that a payment lies in. */
  windowOf: (at: number) => number
}

/**
 * The wash among one seller's payments, in any order, with the first flag that fits each.
 * A seller who pays himself is not a buyer.
 */
export function findWash<Payment extends Paid>(
  payments: readonly Payment[],
  { wallets, transfers, hasPaidOthers, windowOf }: WashKnowledge,
): Map<Payment, WashFlagId> {
  const own = new Set(wallets.map(normalizeWallet))
  const found = new Map<Payment, WashFlagId>()
  let rest = [...payments]
  const exclude = (flag: WashFlagId, isWash: (payment: Payment) => boolean) => {
    for (const payment of rest) if (isWash(payment)) found.set(payment, flag)
    rest = rest.filter((payment) => !found.has(payment))
  }
  exclude('self_payment', ({ payer, payee }) => own.has(payer) || payer === payee)
  const funded = findFunded(rest, own, transfers)
  exclude('funded_by_payout', ({ payer }) => funded.has(payer))
  const returned = findReturned(rest, own, transfers)
  exclude('round_trip', ({ payer }) => returned.has(payer))
  const burst = findBursts(rest, { transfers, hasPaidOthers, windowOf })
  exclude('burst_cohort', (payment) => burst.has(payment))
  return found
}

/** Payers that got back most of what they paid. */
function findReturned(
  settlements: readonly Paid[],
  own: ReadonlySet<string>,
  transfers: TransferIndex,
): Set<string> {
  const percent = BigInt(Math.round(WASH.roundTripShare * 100))
  const isBack = (transfer: Transfer) => isOwn(transfer, own)
  const paid = settlements.filter(({ payer }) => transfers.to(payer).some(isBack))
  const returned = [...Map.groupBy(paid, ({ payer }) => payer)].filter(
    ([wallet, given]) =>
      sumOf(transfers.to(wallet).filter(isBack)) * 100n >= sumOf(given) * percent,
  )
  return new Set(returned.map(([wallet]) => wallet))
}

/**
 * Bursts of first-time payers of the same amount: many wallets, one owner. Fast sales alone are not
 * proof (a launch looks like that too), so a second sign is required.
 *
 * Only the wallets of the crowded half hour are left out, or, where one wallet funded the cohort,
 * those that it funded: else a rival, for a few cents, could send a crowd that takes a seller's
 * real buyers with it.
 *
 * A cohort is of one window: sales of months before must not hide that a month's buyers came at once.
 *
 * @returns every settlement of those payers in that amount.
 */
function findBursts<Payment extends Paid>(
  settlements: readonly Payment[],
  { transfers, hasPaidOthers, windowOf }: Omit<WashKnowledge, 'wallets'>,
): Set<Payment> {
  const found = new Set<Payment>()
  const cohorts = Map.groupBy(
    findFirstPayments(settlements).values(),
    ({ at, amount }) => `${windowOf(at)} ${amount}`,
  )
  for (const cohort of cohorts.values()) {
    const crowd = cohort.length < WASH.burst.cohort ? [] : findCrowd(cohort)
    if (crowd.length === 0) continue
    const amount = cohort[0]?.amount
    const hand = findHand(cohort, hasPaidOthers, transfers)
    const payers = new Set(crowd.map(({ payer }) => payer).filter((payer) => hand.has(payer)))
    for (const settlement of settlements)
      if (settlement.amount === amount && payers.has(settlement.payer)) found.add(settlement)
  }
  return found
}

/** Payers whose first payment is in a half hour that holds most of the cohort. */
function findCrowd(cohort: readonly Paid[]): Paid[] {
  const { share, windowMs } = WASH.burst
  const times = cohort.map(({ at }) => at).sort((a, b) => a - b)
  const needed = Math.ceil(share * times.length)
  const starts = times.filter((start, index) => {
    const last = times[index + needed - 1]
    return last !== undefined && last - start <= windowMs
  })
  return cohort.filter(({ at }) => starts.some((start) => at >= start && at - start <= windowMs))
}

/**
 * The second sign: nobody in the cohort ever paid anyone else, or one wallet funded half of it. A
 * mint, a bridge and an exchange fill everybody's wallets: as funders they prove nothing.
 *
 * @returns the payers it is a sign against
 */
function findHand(
  cohort: readonly Paid[],
  hasPaidOthers: (wallet: string) => boolean,
  transfers: TransferIndex,
): Set<string> {
  const isNobodys = ({ from, from_contract }: Transfer) =>
    from === MINT ||
    from_contract === true ||
    transfers.countReceivers(normalizeWallet(from)) >= 2 * cohort.length
  const payers = cohort.map(({ payer }) => payer)
  if (!payers.some(hasPaidOthers)) return new Set(payers)
  const funded = cohort.flatMap((first) =>
    [...findFunders(first, transfers)]
      .filter(([, given]) => !given.some(isNobodys))
      .map(([funder]) => ({ funder, payer: first.payer })),
  )
  const hands = [...Map.groupBy(funded, ({ funder }) => funder).values()]
  const isHalf = ({ length }: { length: number }) =>
    length >= WASH.burst.funderShare * cohort.length
  return new Set(hands.filter(isHalf).flatMap((hand) => hand.map(({ payer }) => payer)))
}

/** Sources of coins that are new on a chain: burnt by a bridge on another one, for example. */
const MINT = `0x${'0'.repeat(40)}`

/**
 * Payers that received the seller's money before they first paid: sent to them, however little, or
 * to one wallet that afterwards gave them at least what they first paid, and most of what they had.
 * Less than most proves nothing: a rival that the seller once paid could give it to his buyers.
 *
 * Known limits: not through two wallets or more, not through a contract (exchanges, pools and bridges
 * pass on everybody's money), not in another token, and not longer ago than `WASH.hopDays`.
 */
function findFunded(
  settlements: readonly Paid[],
  own: ReadonlySet<string>,
  transfers: TransferIndex,
): Set<string> {
  const funded = new Set<string>()
  for (const [wallet, first] of findFirstPayments(settlements)) {
    const received = transfers.to(wallet).filter((transfer) => isSurelyBefore(transfer, first))
    const had = sumOf(received)
    const passed = [...findFunders(first, transfers).values()].filter(
      (given) => sumOf(given) * 2n >= had,
    )
    if (
      received.some((transfer) => isOwn(transfer, own)) ||
      passed.flat().some((transfer) => isHop(transfer, first, own, transfers))
    )
      funded.add(wallet)
  }
  return funded
}

function isOwn({ from }: Transfer, own: ReadonlySet<string>): boolean {
  return own.has(normalizeWallet(from))
}

/** Whether the sender of this got it, within the look-back, from the seller. */
function isHop(
  passed: Transfer,
  first: Paid,
  own: ReadonlySet<string>,
  transfers: TransferIndex,
): boolean {
  const since = first.at - WASH.hopDays * DAY_MS
  if (passed.from_contract === true || passed.at < since) return false
  return transfers
    .to(normalizeWallet(passed.from))
    .some((given) => given.at >= since && isOwn(given, own) && isSurelyBefore(given, passed))
}
