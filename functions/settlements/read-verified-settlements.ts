import { normalizePayout } from '../../src/domain/listing/payout.ts'
import { NO_PAYOUTS, type PayoutStanding } from '../../src/domain/owners/payout-standing.ts'
import type { Settlement, Transfer } from '../../src/domain/settlement/settlement.ts'
import type { Measured } from '../../src/domain/trust/evidence.ts'
import { toMeasured, windowEnd } from '../../src/domain/trust/measured-settlements.ts'
import { TRUST } from '../../src/domain/trust/trust.ts'
import type { Store } from '../store/schema/store.ts'

const DAY_MS = 86_400_000

/**
 * The settlements this service verified in the last 30 days, as `measured` evidence by listing id
 * (source `service_verified`), wash excluded. The window ends with the day of `now`, UTC: two
 * builds of one day over one ledger write the same bytes.
 *
 * @param standingsOf which payouts count for which listing; asked only where there are settlements.
 */
export async function readVerifiedSettlements(
  store: Store,
  standingsOf: () => ReadonlyMap<string, PayoutStanding>,
  now: number,
): Promise<Map<string, Measured>> {
  const asOf = windowEnd(now)
  const from = asOf - TRUST.windowDays * DAY_MS
  const settlements = await readSettlements(store, from)
  const transfers = await readTransfers(store)
  const measured = new Map<string, Measured>()
  if (settlements.length === 0) return measured
  const standings = standingsOf()
  for (const [id, all] of Map.groupBy(settlements, ({ listing_id }) => listing_id)) {
    const { counts, contested } = standings.get(id) ?? NO_PAYOUTS
    const disputed = new Set(contested.map(normalizePayout))
    const own = all.filter(
      ({ network, payee }) => !disputed.has(normalizePayout(`${network}:${payee}`)),
    )
    // What was paid to once counts as the seller's wallet, even if it is published no more.
    const wallets = [...counts, ...contested].map(toWallet)
    wallets.push(...all.map(({ payee }) => payee))
    const evidence = toMeasured(own, { wallets, transfers, asOf })
    if (evidence !== undefined) measured.set(id, evidence)
  }
  return measured
}

async function readSettlements({ db }: Store, from: number): Promise<Settlement[]> {
  const rows = await db
    .selectFrom('settlement')
    .selectAll()
    .where('settled_at', '>', from)
    .orderBy('listing_id')
    .orderBy('settled_at')
    .orderBy('transaction_id')
    .orderBy('log_index')
    .execute()
  return rows.map(({ transaction_id, micro_usd, settled_at, ...row }) => ({
    ...row,
    transaction: transaction_id,
    usd: micro_usd / 1_000_000,
    at: settled_at,
  }))
}

async function readTransfers({ db }: Store): Promise<Transfer[]> {
  const rows = await db
    .selectFrom('wallet_transfer')
    .selectAll()
    .orderBy('sent_at')
    .orderBy('transaction_id')
    .orderBy('log_index')
    .execute()
  return rows.map(({ transaction_id, sender, receiver, sent_at, ...row }) => ({
    ...row,
    transaction: transaction_id,
    from: sender,
    to: receiver,
    at: sent_at,
  }))
}

/** @example toWallet('eip155:8453:0xAbc') → '0xAbc' */
function toWallet(payout: string): string {
  return payout.split(':')[2] ?? payout
}
