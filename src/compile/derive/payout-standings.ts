import { BASE_URL_PLACEHOLDER } from '../../domain/listing/target-url.ts'
import { judgePayouts, type PayoutStanding } from '../../domain/owners/payout-standing.ts'
import { hostOf, ownerDomainOf, type SharedHosts } from '../../domain/owners/shared-hosts.ts'
import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'
import type { Content } from '../content/read-content.ts'
import type { ListingFile } from '../content/read-listings.ts'

/** The host a listing of the content is on, as claims and opt-outs name it. */
export function hostAt({ facts }: Pick<ListingFile, 'facts'>, baseUrl: string): string | null {
  return hostOf(facts.url.replace(BASE_URL_PLACEHOLDER, baseUrl))
}

/** Opt-outs bind to the host that was proved: a listing that moved leaves them behind. */
export function isOptedOut(
  file: ListingFile,
  { optedOut }: Pick<LedgerFacts, 'optedOut'>,
  baseUrl: string,
): boolean {
  return optedOut.get(file.id) === hostAt(file, baseUrl)
}

/** Which payouts count for which listing of the directory. */
export function readPayoutStandings(
  { listings, tables }: Pick<Content, 'listings' | 'tables'>,
  ledger: Pick<LedgerFacts, 'optedOut'>,
  baseUrl: string,
): Map<string, PayoutStanding> {
  return judgePayouts(
    listings
      .filter((file) => file.facts.payout.length > 0 && !isOptedOut(file, ledger, baseUrl))
      .map((file) => ({
        id: file.id,
        owner: ownerAt(hostAt(file, baseUrl) ?? '', tables.sharedHosts),
        published: file.facts.payout,
        named: [],
        proven: [],
      })),
  )
}

/** Addresses and local names, which only trials list, are their own. */
function ownerAt(host: string, shared: SharedHosts): string {
  return ownerDomainOf(host, shared) ?? host
}
