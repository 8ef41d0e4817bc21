import { judgeOffer } from '../../../src/domain/pins/offer.ts'

/** What is not as it was pinned. Written out here: the package's types name no file outside it. */
export interface Difference {
  what: 'digest' | 'payee' | 'price'
  expected: string
  found: string
}

/** Of a lock's entry: the most a call may cost in US dollars, and addresses by network (CAIP-2). */
interface PinnedTerms {
  max_usd: number | null
  payees: Record<string, string[]>
}

/** What keeps a way to pay from being used. Where the lock names no payee, nothing may be. */
export function judgePinned(
  pinned: PinnedTerms,
  offered: { payee: string | null; usd: number | null },
): Difference[] {
  const payee = toAccounts(pinned)
  return judgeOffer(offered, {
    payee: payee.length > 0 ? payee : ['one that is pinned'],
    ...(pinned.max_usd !== null && { max_usd: pinned.max_usd }),
  })
}

/** CAIP-10. */
export function toAccounts({ payees }: Pick<PinnedTerms, 'payees'>): string[] {
  return Object.entries(payees).flatMap(([network, addresses]) =>
    addresses.map((address) => `${network}:${address}`),
  )
}
