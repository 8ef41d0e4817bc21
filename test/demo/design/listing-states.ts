import type { ListingView } from '../../../src/domain/views/listing-view.ts'

type Subject = Pick<
  ListingView,
  'kind' | 'status' | 'first_party' | 'buy' | 'trust' | 'notices' | 'pricing' | 'badges'
>

/**
 * What makes one listing look different from another, in words: the design page shows one of each.
 *
 * @example toListingState(view) → 'http_api, claimed, verified_non_wash_payments, low sample, payout_contested'
 */
export function toListingState(view: Subject): string {
  const { kind, status, first_party, trust, notices, pricing, badges } = view
  const sample = trust.evidence === 'verified_non_wash_payments' ? trust.sample : undefined
  return [
    kind,
    first_party ? 'our own' : status,
    trust.evidence,
    ...(sample === undefined ? [] : [`${sample} sample`]),
    pricing.model,
    ...badges.filter((badge) => badge === 'live_tested'),
    ...notices.map(({ id }) => id).sort(),
  ].join(', ')
}

/** The first listing in each state, by state; in the order they come. */
export function pickOneOfEachState<Listed extends { view: Subject }>(
  listings: readonly Listed[],
): [state: string, listing: Listed][] {
  const first = new Map<string, Listed>()
  for (const listing of listings) {
    const state = toListingState(listing.view)
    if (!first.has(state)) first.set(state, listing)
  }
  return [...first]
}
