import { normalizePayout } from '../listing/caip-account.ts'
import type { LedgerPayee } from '../trust/ledger-payment.ts'
import { NO_PAYOUTS, type PayoutFacts, type PayoutStanding } from './payout-standing.ts'

/** Whose each payee is, by payee: one row where several listings of its owner share it. */
export function listPayees(
  listings: readonly PayoutFacts[],
  standings: ReadonlyMap<string, PayoutStanding>,
): LedgerPayee[] {
  const owned = listings.flatMap(({ id, owner, proven }) => {
    const proofs = new Set(proven.map(normalizePayout))
    const payouts = (standings.get(id) ?? NO_PAYOUTS).owned.map(normalizePayout)
    return payouts.map((payee) => ({ id, owner, payee, isProven: proofs.has(payee) }))
  })
  return [...Map.groupBy(owned, ({ payee }) => payee)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([payee, ties]) => ({
      payee,
      // Two owners that both signed with the wallet are one: its holder.
      owner: ties.map(({ owner }) => owner).sort()[0] ?? '',
      proof: ties.some(({ isProven }) => isProven) ? 'signature' : 'published',
      listings: ties.map(({ id }) => id).sort(),
    }))
}
