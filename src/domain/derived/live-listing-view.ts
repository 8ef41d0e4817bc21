import type { LiveListing } from '../listing/live-listing.ts'
import type { DerivedListing } from './derived-listing.ts'

export function toLiveListing(listing: DerivedListing): LiveListing {
  const { id, facts, status, buy, surface, payouts } = listing
  return {
    id,
    name: facts.name,
    kind: facts.kind,
    url: facts.url,
    status,
    first_party: facts.first_party,
    buy: buy.buy,
    not_relayable_reason: buy.reason,
    methods: [...new Set(surface.operations.map(({ method }) => method))],
    pricing: facts.pricing,
    payout: [...payouts.counts],
    ...(payouts.contested.length > 0 && { payout_contested: [...payouts.contested] }),
  }
}
