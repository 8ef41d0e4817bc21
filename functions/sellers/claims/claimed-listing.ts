import type { OptedOutListing } from '../../../src/domain/listing/live-listing.ts'
import { hostOf } from '../../../src/domain/owners/shared-hosts.ts'
import type { Release } from '../../release/release.ts'
import type { ClaimTable } from '../../store/schema/tables.ts'

type Listings = Pick<Release, 'listings' | 'optedOut'>

/** A listing that can be claimed: also one whose seller took it out, or nobody could bring it back. */
export function findClaimable(release: Listings, id: string): OptedOutListing | undefined {
  return release.listings.get(id) ?? release.optedOut.get(id)
}

/**
 * A verified claim gives nothing while its listing is elsewhere: the proof covers one host, and
 * the present owner of the listing's host has proved nothing.
 */
export function isOwned(
  release: Listings,
  { state, listing_id, host }: Pick<ClaimTable, 'state' | 'listing_id' | 'host'>,
): boolean {
  const listing = findClaimable(release, listing_id)
  return state === 'verified' && listing !== undefined && hostOf(listing.url) === host
}
