import { DAY_MS } from '../wire/shapes.ts'
import type { Transfer } from './payments.ts'

/** Numbers in the wash exclusions: the rules use them, and the method page prints them. */
export const WASH = {
  /** If at least this share of a payer's money came back, it was a round trip. */
  roundTripShare: 0.85,
  /** How many days before a first payment we look for money that the seller sent through another wallet. */
  hopDays: 30,
  burst: {
    /** How many first-time payers of the same amount make a cohort. */
    cohort: 10,
    /** The share of the cohort that must be inside the window. */
    share: 0.7,
    windowMs: 30 * 60 * 1000,
    /** The second sign: one wallet funded this share of the cohort, or nobody in it ever paid anyone else. */
    funderShare: 0.5,
  },
} as const

/** Lower case for EVM addresses, which are compared without case; Solana addresses stay as they are. */
export function normalizeWallet(wallet: string): string {
  return wallet.startsWith('0x') ? wallet.toLowerCase() : wallet
}

type Moment = Pick<Transfer, 'network' | 'at' | 'transaction' | 'log' | 'block'>
/** The members of a payment that the exclusions use; wallets are as `normalizeWallet` writes them. */
type Paid = Moment & Record<'payer' | 'payee' | 'amount', string>

/**
 * Whether one payment surely came before another. Blocks have whole seconds and several may share a
 * second, so within a second only the same block, or the same transaction, gives an order. Money
 * that moves in the same second may have come before the payment or gone back after it.
 */
function isSurelyBefore(one: Moment, other: Moment): boolean {
  if (one.at !== other.at) return one.at < other.at
  if (one.network !== other.network) return false
  if (one.block !== null && other.block !== null)
    return one.block === other.block ? one.log < other.log : one.block < other.block
  return one.transaction === other.transaction && one.log < other.log
}

/** Each payer's first payment, by wallet. If several have the same time, the same one is always chosen. */
function findFirstPayments<Payment extends Paid>(
  settlements: readonly Payment[],
): Map<string, Payment> {
  const first = new Map<string, Payment>()
  for (const settlement of settlements) {
    const known = first.get(settlement.payer)
    if (known === undefined || comesFirst(settlement, known))
      first.set(settlement.payer, settlement)
  }
  return first
}

/** Wallets that sent a payer, before its first payment, at least the amount of that payment: less could be dust. */
function findFunders(first: Paid, transfers: TransferIndex): Map<string, Transfer[]> {
  const received = transfers.to(first.payer).filter((transfer) => isSurelyBefore(transfer, first))
  const givers = Map.groupBy(received, ({ from }) => normalizeWallet(from))
  return new Map([...givers].filter(([, given]) => sumOf(given) >= BigInt(first.amount)))
}

function sumOf(moved: readonly Pick<Transfer, 'amount'>[]): bigint {
  return moved.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
}

/** A fixed order for equal times, so that the same payments give the same verdict. */
function comesFirst(one: Paid, other: Paid): boolean {
  if (one.at !== other.at) return one.at < other.at
  if (isSurelyBefore(one, other)) return true
  if (isSurelyBefore(other, one)) return false
  return one.transaction === other.transaction
    ? one.log < other.log
    : one.transaction < other.transaction
}

/** Transfers by recipient; built once, used for each listing. */
type TransferIndex = ReturnType<typeof indexTransfers>

/** Transfers of zero are left out: anybody can make one in anybody's name. */
export function indexTransfers(transfers: readonly Transfer[]) {
  const real = transfers.filter(({ amount }) => BigInt(amount) > 0n)
  const byReceiver = Map.groupBy(real, ({ to }) => normalizeWallet(to))
  const receivers = new Map<string, Set<string>>()
  for (const { from, to } of real) {
    const sender = normalizeWallet(from)
    receivers.set(sender, (receivers.get(sender) ?? new Set()).add(normalizeWallet(to)))
  }
  return {
    to: (wallet: string): readonly Transfer[] => byReceiver.get(wallet) ?? [],
    countReceivers: (from: string) => receivers.get(from)?.size ?? 0,
  }
}

export const WASH_FLAGS = [
  'self_payment',
  'funded_by_payout',
  'round_trip',
  'burst_cohort',
] as const
export type WashFlagId = (typeof WASH_FLAGS)[number]

/** Known facts about one listing's payments; unknown facts exclude nothing. */
export interface WashKnowledge {
  /** The seller's wallets: published and claimed payouts, on any chain. */
  wallets: readonly string[]
  transfers: TransferIndex
  /** Whether a wallet (as `normalizeWallet` writes it) ever paid somebody else. */
  hasPaidOthers: (wallet: string) => boolean
  /** Number of the thirty-day window that contains a payment. */
  windowOf: (at: number) => number
}

/**
 * The wash payments to one seller, given in any order, each with the first flag that fits. A seller
 * who pays himself is not a buyer.
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
 * Only the wallets in the crowded half hour are left out; if one wallet funded the cohort, only
 * those that it funded. Otherwise a rival could, for a few cents, send a crowd that gets a seller's
 * real buyers left out too.
 *
 * A cohort lies in one window: sales in earlier months must not hide that a month's buyers came at
 * once.
 * @returns every settlement in that amount by those payers
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

/** Payers whose first payment is in a half hour that contains most of the cohort. */
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
 * The second sign: nobody in the cohort ever paid anyone else, or one wallet funded half of it.
 * Mints, bridges and exchanges fill everybody's wallets: as funders they prove nothing.
 * @returns the payers that this sign incriminates
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

/** The sender of coins that are new on a chain, for example because a bridge burnt them on another chain. */
const MINT = `0x${'0'.repeat(40)}`

/**
 * Payers whom the seller funded before their first payment: directly, with any amount, or through one wallet that then
 * gave them at least the amount of that payment and at least half of all they had. Less than half proves nothing:
 * somebody whom the seller once paid could pass that money on to honest buyers.
 *
 * Not found: money sent through two or more wallets, through a contract (exchanges, pools and bridges pass on
 * everybody's money), in another token, or longer ago than `WASH.hopDays`.
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

/** Whether the sender of this transfer got its money from the seller within the look-back. */
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
