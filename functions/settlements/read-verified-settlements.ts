import { normalizePayout } from '../../src/domain/listing/caip-account.ts'
import { NO_PAYOUTS, type PayoutStanding } from '../../src/domain/owners/payout-standing.ts'
import type { Settlement } from '../../src/domain/settlement/settlement.ts'
import {
  NO_PAYMENT_FACTS,
  type PaymentFacts,
  type RotatingPayees,
} from '../../src/domain/trust/ledger-facts.ts'
import {
  HISTORY_MS,
  type Sales,
  toSales,
  walletOf,
  windowEnd,
} from '../../src/domain/trust/measured-settlements.ts'
import { TRUST } from '../../src/domain/trust/trust.ts'
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
 * The settlements this service verified in the last 30 days and before, as sales by listing id, wash
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
  const untraced = new Set(settlements.filter(({ is_untraced }) => is_untraced).map(walletOf))
  const sales = new Map<string, Sales>()
  const metered = new Set<string>()
  const standings = standingsOf()
  const rotating = findRotating(settlements, standings, asOf)
  const deal = dealOut(settlements, standings, readPayouts)
  for (const [id, { own, wallets, isMetered }] of deal) {
    const ours = new Set(wallets.map(normalizeWallet))
    const hasPaidOthers = (wallet: string) =>
      elsewhere.has(wallet) || [...(paidTo.get(wallet) ?? [])].some((payee) => !ours.has(payee))
    const known = { wallets, transfers, hasPaidOthers, asOf, isMetered, untraced }
    const sold = toSales(own, known)
    if (isMetered) metered.add(id)
    if (sold !== undefined) sales.set(id, sold)
  }
  return { asOf, sales, metered, rotating }
}

interface Share {
  own: Settlement[]
  /** Of the seller: what was paid to once counts as his, even if it is published no more. */
  wallets: string[]
  isMetered: boolean
}

/** Sellers whose payees change by design: each named by their 402 and paid, none published. */
function findRotating(
  settlements: readonly SeenSettlement[],
  standings: ReadonlyMap<string, PayoutStanding>,
  asOf: number,
): Map<string, RotatingPayees> {
  const recent = settlements.filter(
    ({ seen_by, at }) => seen_by !== 'meter' && at > asOf - TRUST.windowDays * DAY_MS,
  )
  const found = new Map<string, RotatingPayees>()
  for (const [id, own] of Map.groupBy(recent, ({ listing_id }) => listing_id)) {
    const { counts, contested } = standings.get(id) ?? NO_PAYOUTS
    const published = new Set([...counts, ...contested].map(normalizePayout))
    const named = own.filter((one) => !published.has(payoutOf(one)))
    const payees = new Set(named.map(payoutOf)).size
    const last = named.at(-1)
    if (payees >= FEWEST_ROTATING && last !== undefined) found.set(id, { payees, at: last.at })
  }
  return found
}

/** Fewer may be a seller that moved. */
const FEWEST_ROTATING = 3

/**
 * Which settlements are whose. What our relay saw is that of the listing whose call it was, and of no
 * other; what the meter alone saw is that of every listing that owns the payout.
 */
function dealOut(
  settlements: readonly SeenSettlement[],
  standings: ReadonlyMap<string, PayoutStanding>,
  readPayouts: ReadonlyMap<string, { isProven: boolean }>,
): Map<string, Share> {
  // Anybody can write a transfer of nothing in anybody's name.
  const real = settlements.filter(({ amount }) => BigInt(amount) > 0n)
  const isCalled = ({ seen_by, listing_id }: SeenSettlement) =>
    seen_by !== 'meter' && standings.has(listing_id)
  const byPayout = Map.groupBy(
    real.filter((one) => !isCalled(one)),
    payoutOf,
  )
  const byListing = Map.groupBy(real.filter(isCalled), ({ listing_id }) => listing_id)
  const shares = new Map<string, Share>()
  const byId = [...standings].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [id, { counts, owned, contested, seeded = [] }] of byId) {
    const disputed = new Set(contested.map(normalizePayout))
    const needsNoProof = new Set(seeded.map(normalizePayout))
    const read = owned.map(normalizePayout).filter((payout) => {
      const known = readPayouts.get(payout)
      return known !== undefined && (known.isProven || needsNoProof.has(payout))
    })
    const called = byListing.get(id) ?? []
    if (called.length === 0 && read.length === 0) continue
    // What only the meter saw waits until it is known where its payer had the money from.
    const metered = read
      .flatMap((payout) => byPayout.get(payout) ?? [])
      .filter(({ is_untraced }) => !is_untraced)
    const own = [...metered, ...called.filter((one) => !disputed.has(payoutOf(one)))]
    const published = [...counts, ...contested].map(toWallet)
    const wallets = [...published, ...called.map(({ payee }) => payee)]
    shares.set(id, { own, wallets, isMetered: read.length > 0 })
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
