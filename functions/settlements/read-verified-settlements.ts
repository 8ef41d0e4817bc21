import { normalizePayout } from '../../src/domain/listing/caip-account.ts'
import type { PayoutStanding } from '../../src/domain/owners/payout-standing.ts'
import type { Settlement } from '../../src/domain/settlement/settlement.ts'
import { NO_PAYMENT_FACTS, type PaymentFacts } from '../../src/domain/trust/ledger-facts.ts'
import {
  HISTORY_MS,
  type Sales,
  toSales,
  windowEnd,
} from '../../src/domain/trust/measured-settlements.ts'
import { indexTransfers } from '../../src/domain/wash/chain-order.ts'
import { normalizeWallet, WASH } from '../../src/domain/wash/wash-rules.ts'
import type { Store } from '../store/schema/store.ts'
import {
  findFreshPayouts,
  readPayersElsewhere,
  readSettlements,
  readTransfers,
  type SeenSettlement,
} from './settlement-rows.ts'

const DAY_MS = 86_400_000
/** A payout nobody has read for so long is not metered: a provider may know more by now. */
const FRESH_DAYS = 3

/**
 * The settlements that the meter read in the last 30 days and before, as sales by listing id, wash
 * excluded. The window ends with the day of `now`, UTC: two builds of one day over one ledger write the
 * same bytes.
 *
 * @param standingsOf which payouts count for which listing; asked only where there are settlements,
 *   or payouts that the meter reads.
 */
export async function readVerifiedSettlements(
  store: Store,
  standingsOf: () => ReadonlyMap<string, PayoutStanding>,
  now: number,
): Promise<PaymentFacts> {
  const asOf = windowEnd(now)
  const settlements = await readSettlements(store, asOf - HISTORY_MS)
  const readPayouts = await findFreshPayouts(store, asOf - FRESH_DAYS * DAY_MS)
  if (settlements.length === 0 && readPayouts.size === 0) return NO_PAYMENT_FACTS
  const since = asOf - HISTORY_MS - WASH.hopDays * DAY_MS
  const transfers = indexTransfers(await readTransfers(store, since))
  const elsewhere = await readPayersElsewhere(store)
  const paidTo = toPayees(settlements)
  const sales = new Map<string, Sales>()
  const metered = new Set<string>()
  const standings = standingsOf()
  const deal = dealOut(settlements, standings, readPayouts)
  for (const [id, { own, wallets }] of deal) {
    const ours = new Set(wallets.map(normalizeWallet))
    const hasPaidOthers = (wallet: string) =>
      elsewhere.has(wallet) || [...(paidTo.get(wallet) ?? [])].some((payee) => !ours.has(payee))
    const sold = toSales(own, { wallets, transfers, hasPaidOthers, asOf, isMetered: true })
    metered.add(id)
    if (sold !== undefined) sales.set(id, sold)
  }
  return { asOf, sales, metered }
}

interface Share {
  own: Settlement[]
  /** The seller's. */
  wallets: string[]
}

/**
 * Which settlements are whose: of every listing that owns the payee, or of the one of them that was
 * called, where that is noted.
 */
function dealOut(
  settlements: readonly SeenSettlement[],
  standings: ReadonlyMap<string, PayoutStanding>,
  readPayouts: ReadonlySet<string>,
): Map<string, Share> {
  // Anybody can write a transfer of nothing in anybody's name. What is not traced yet waits.
  const known = settlements.filter(({ amount, is_untraced }) => BigInt(amount) > 0n && !is_untraced)
  const byPayout = Map.groupBy(known, payoutOf)
  const shares = new Map<string, Share>()
  const byId = [...standings].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [id, { owned }] of byId) {
    const read = owned.map(normalizePayout).filter((payout) => readPayouts.has(payout))
    if (read.length === 0) continue
    const own = read
      .flatMap((payout) => byPayout.get(payout) ?? [])
      .filter(({ listing_id }) => listing_id === id || !standings.has(listing_id))
    shares.set(id, { own, wallets: owned.map(toWallet) })
  }
  return shares
}

/** Whom each payer paid, as `normalizeWallet` writes both. */
function toPayees(settlements: readonly Settlement[]): Map<string, Set<string>> {
  const payees = new Map<string, Set<string>>()
  for (const { payer, payee } of settlements) {
    const wallet = normalizeWallet(payer)
    payees.set(wallet, (payees.get(wallet) ?? new Set()).add(normalizeWallet(payee)))
  }
  return payees
}

function payoutOf({ network, payee }: Settlement): string {
  return normalizePayout(`${network}:${payee}`)
}

/** @example toWallet('eip155:8453:0xAbc') → '0xAbc' */
function toWallet(payout: string): string {
  return payout.split(':')[2] ?? payout
}
