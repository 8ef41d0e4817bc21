import type { ListingView } from '../../views/listing-view.ts'

/** A line of the ledger of what is known of a listing, and what is not yet. */
export interface KnownFact {
  isKnown: boolean
  text: string
}

interface Seen {
  probes: readonly { outcome: string; protocol: string }[]
  calls: { title: string; rows: readonly unknown[] } | null
}

/** For listings without a score: a page that is complete without one. */
export function toKnownFacts(view: ListingView, { probes, calls }: Seen): KnownFact[] {
  const spoke = probes.findLast(({ outcome }) => outcome === 'spoke')
  const known = (isKnown: boolean, yes: string, no: string): KnownFact => ({
    isKnown,
    text: isKnown ? yes : no,
  })
  return [
    known(
      spoke !== undefined,
      `Speaks ${spoke?.protocol ?? ''}: we asked it`,
      'Not heard yet: no probe has spoken with it',
    ),
    known(
      calls !== null,
      `${calls?.rows.length ?? 0} ${(calls?.title ?? '').toLowerCase()} described`,
      'What it offers, one by one: not described yet',
    ),
    known(
      view.pricing.model === 'per_call',
      'Price of a call published',
      'Price: not published, the seller tells',
    ),
    known(
      view.auth.type !== 'unknown',
      'What a caller must bring is declared',
      'Access: not declared',
    ),
    known(
      view.trust.evidence !== 'no_payment_data',
      'Payments measured',
      'Payments: none measured, which says nothing against it',
    ),
    known(view.status === 'claimed', 'Owner proved the domain', 'Owner: nobody has claimed it'),
  ]
}
