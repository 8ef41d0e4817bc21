import { judgeOffer, type Offered } from '../../../src/domain/pins/offer.ts'
import type { Difference, LockEntry } from './lock.ts'

/** What keeps a way to pay from being used. Where the lock names no payee, nothing may be. */
export function judgePinned(entry: LockEntry, offered: Offered): Difference[] {
  const payee = toAccounts(entry)
  return judgeOffer(offered, {
    payee: payee.length > 0 ? payee : ['one that is pinned'],
    ...(entry.max_usd !== null && { max_usd: entry.max_usd }),
  })
}

/** CAIP-10. */
export function toAccounts({ payees }: LockEntry): string[] {
  return Object.entries(payees).flatMap(([network, addresses]) =>
    addresses.map((address) => `${network}:${address}`),
  )
}
