import type { ListingFile } from '../content/listing-file.ts'
import type { Content } from '../content/read.ts'
import { NO_PAYOUTS, type PayoutState } from '../domain/derived/derived-listing.ts'
import { normalizePayout } from '../domain/listing/networks.ts'
import { BASE_URL_PLACEHOLDER } from '../domain/listing/target-url.ts'
import { hostOf, isOnSiteOf, isProvedAt, ownerAt } from '../domain/sellers/claim-rules.ts'
import type { LedgerFacts, LedgerPayee } from '../domain/trust/ledger-facts.ts'
import { eachOnce, largestOf } from '../domain/wire/json.ts'

/** The host of a listing in the content. */
export function hostAt(file: Pick<ListingFile, 'facts'>, baseUrl: string): string | null {
  return hostOf(urlAt(file, baseUrl))
}

/** A verified claim is valid while its listing is on the proved host. */
export function isClaimed(
  file: Pick<ListingFile, 'id' | 'facts'>,
  { claimed }: Pick<LedgerFacts, 'claimed'>,
  baseUrl: string,
): boolean {
  return isProvedAt(urlAt(file, baseUrl), claimed.get(file.id))
}

function urlAt({ facts }: Pick<ListingFile, 'facts'>, baseUrl: string): string {
  return facts.url.replace(BASE_URL_PLACEHOLDER, baseUrl)
}

/** An opt-out applies to the proved host, and no longer to a listing that moved to another host. */
export function isOptedOut(
  file: ListingFile,
  { optedOut }: Pick<LedgerFacts, 'optedOut'>,
  baseUrl: string,
): boolean {
  return isProvedAt(urlAt(file, baseUrl), optedOut.get(file.id))
}

type Read<Value> = (
  content: Pick<Content, 'listings' | 'tables'>,
  ledger: Pick<LedgerFacts, 'claimed' | 'optedOut' | 'provenPayouts'>,
  baseUrl: string,
) => Value

/** Which payouts are accepted for which listing in the directory. */
export const readPayoutStates: Read<Map<string, PayoutState>> = (content, ledger, baseUrl) =>
  judgePayouts(readPayoutFacts(content, ledger, baseUrl))

/** The owner of each payee that was proved or published. */
export const readPayees: Read<LedgerPayee[]> = (content, ledger, baseUrl) => {
  const facts = readPayoutFacts(content, ledger, baseUrl)
  return listPayees(facts, judgePayouts(facts))
}

/** Facts about the payouts of each listing that was not removed. */
const readPayoutFacts: Read<PayoutFacts[]> = ({ listings, tables }, ledger, baseUrl) => {
  const seeds = new Set(tables.independentOperators.map(({ domain }) => domain))
  return listings
    .filter((file) => !isOptedOut(file, ledger, baseUrl))
    .map((file) => {
      const { id, facts } = file
      // A proof ends with its claim, and a claim has no effect on another host.
      const place = isClaimed(file, ledger, baseUrl) ? ledger.claimed.get(id) : undefined
      const host = hostAt(file, baseUrl) ?? ''
      const { sharedHosts } = tables
      // Whoever proved a repository owns only that page of the code host.
      const owner = place?.includes('/') === true ? place : ownerAt(host, sharedHosts)
      const isSeed = seeds.has(owner)
      const published = isOnSiteOf(facts.payout_source, host, sharedHosts) ? facts.payout : []
      const proven = place === undefined ? [] : (ledger.provenPayouts.get(id) ?? [])
      // A name below a large operator's domain may be taken over, and payments to a known independent
      // seller vouch for buyers. So there a signature adds no payee to those that people found.
      const isWholeOperator = !isSeed || host === owner
      const known = new Set(published.map(normalizePayout))
      return {
        id,
        owner,
        isSeed,
        published,
        proven: isWholeOperator ? proven : proven.filter((one) => known.has(normalizePayout(one))),
      }
    })
}

/** The known payouts of a listing, CAIP-10. */
export interface PayoutFacts {
  id: string
  /** The domain that somebody registered, or a tenant's own host. */
  owner: string
  /** Published by people in content, with the seller's page that names them. */
  published: readonly string[]
  /** Proved by a signature from the listing's claimed owner. */
  proven: readonly string[]
  /** Whether the operator is known to be independent: a stranger who publishes the same payout takes nothing from it. */
  isSeed?: boolean
}

/**
 * Assigns payouts to owners. Anybody can name somebody else's payout, so if listings on different domains name the same
 * payout, no listing owns it until one of them proves it, or is a known seller's.
 *
 * The payee in a 402 is ignored: a thief names an honest seller's payout, or sends callers to an address whose payments
 * they saw on the chain.
 */
export function judgePayouts(listings: readonly PayoutFacts[]): Map<string, PayoutState> {
  const byPayout = Map.groupBy(listings.flatMap(toTies), ({ key }) => key)
  const owners = new Map([...byPayout].map(([key, tied]) => [key, findOwners(tied)]))
  return new Map(
    listings.map((listing) => {
      const { id } = listing
      const isOwned = ({ key }: Tie) => owners.get(key)?.has(id) === true
      const ties = toTies(listing)
      const owned = ties.filter(isOwned)
      const contested = ties.filter((tie) => !isOwned(tie))
      const state = {
        owned: owned.map(({ payout }) => payout),
        contested: contested.map(({ payout }) => payout),
        sharers: largestOf(
          owned.map(({ key }) => owners.get(key)?.size ?? 1),
          1,
        ),
      }
      return [id, state]
    }),
  )
}

type Tie = ReturnType<typeof toTies>[number]

/** What one listing states about each payout. */
function toTies({ id, owner, published, proven, isSeed = false }: PayoutFacts) {
  const isProven = new Set(proven.map(normalizePayout))
  return eachOnce([...proven, ...published], normalizePayout).map((payout) => {
    const key = normalizePayout(payout)
    return { key, payout, id, owner, isProven: isProven.has(key), isSeed }
  })
}

/**
 * Ids of the listings that own a payout: listings on the domains that proved it; else the seed's,
 * because editors found it on that operator's site; else listings on the only domain that published it.
 */
function findOwners(tied: readonly Tie[]): Set<string> {
  const ownersOf = (ties: readonly Tie[]) => new Set(ties.map(({ owner }) => owner))
  // If two owners signed with the wallet, both hold it.
  const provers = ownersOf(tied.filter(({ isProven }) => isProven))
  const seeds = ownersOf(tied.filter(({ isSeed }) => isSeed))
  const publishers = ownersOf(tied)
  const owners = [provers, seeds, publishers].find(({ size }) => size > 0)
  if (owners === undefined || (owners === publishers && publishers.size > 1)) return new Set()
  return new Set(tied.filter(({ owner }) => owners.has(owner)).map(({ id }) => id))
}

/** The owner of each payee, by payee: one row if several of its owner's listings share it. */
export function listPayees(
  listings: readonly PayoutFacts[],
  states: ReadonlyMap<string, PayoutState>,
): LedgerPayee[] {
  const owned = listings.flatMap(({ id, owner, proven }) => {
    const proofs = new Set(proven.map(normalizePayout))
    const payouts = (states.get(id) ?? NO_PAYOUTS).owned.map(normalizePayout)
    return payouts.map((payee) => ({ id, owner, payee, isProven: proofs.has(payee) }))
  })
  return [...Map.groupBy(owned, ({ payee }) => payee)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([payee, ties]) => ({
      payee,
      // If two owners signed with the wallet, both are treated as one: the wallet's holder.
      owner: ties.map(({ owner }) => owner).sort()[0] ?? '',
      proof: ties.some(({ isProven }) => isProven) ? 'signature' : 'published',
      listings: ties.map(({ id }) => id).sort(),
    }))
}
