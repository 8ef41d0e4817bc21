import { normalizePayout } from '../../domain/listing/payout.ts'
import { hostOf, ownerDomainOf, type SharedHosts } from '../../domain/owners/shared-hosts.ts'
import type { Fault } from './fault.ts'
import { findYamlLine } from './parse-yaml.ts'
import type { PartialListing } from './read-listings.ts'

/** Listings of different owners that publish one payout: it counts for none until one proves it. */
export function checkPayouts(listings: readonly PartialListing[], shared: SharedHosts): Fault[] {
  const published = listings.flatMap((listing) =>
    (listing.facts.payout ?? []).map((payout, index) => ({ listing, payout, index })),
  )
  return [...Map.groupBy(published, ({ payout }) => normalizePayout(payout)).values()]
    .filter((rows) => new Set(rows.map(({ listing }) => ownerOf(listing, shared))).size > 1)
    .flatMap((rows) =>
      rows.map(({ listing, payout, index }): Fault => {
        const domains = new Set(rows.map((row) => ownerOf(row.listing, shared)))
        domains.delete(ownerOf(listing, shared))
        return {
          file: listing.file,
          line: findYamlLine(listing.yaml, ['payout', index]),
          field: `payout.${index}`,
          message: `${payout} is also published by a listing on ${[...domains].sort().join(', ')}: payments to it count for none of them until one proves it`,
          severity: 'warning',
        }
      }),
    )
}

function ownerOf({ facts }: PartialListing, shared: SharedHosts): string {
  const host = hostOf(facts.url ?? '') ?? ''
  return ownerDomainOf(host, shared) ?? host
}
