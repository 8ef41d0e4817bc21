import { normalizePayout } from '../listing/networks.ts'
import type { LedgerPayee } from '../trust/ledger-facts.ts'
import { eachOnce, largestOf } from '../wire/json.ts'

/** The known payouts of a listing, CAIP-10. */
export interface PayoutFacts {
  id: string
  /** The domain somebody registered, or a tenant's own host. */
  owner: string
  /** Published by people in content, with the seller's page that names them. */
  published: readonly string[]
  /** Proved by a signature of the listing's claimed owner. */
  proven: readonly string[]
  /** The operator is surely independent: a stranger who publishes the same takes nothing away. */
  isSeed?: boolean
}

export interface PayoutState {
  /** Every payment to these is the listing's, no matter who saw it. */
  owned: readonly string[]
  /** Payments to these count for nobody here until the payout is proved. */
  contested: readonly string[]
  /** The largest number of listings that share one of its payouts, at least 1. */
  sharers: number
}

export const NO_PAYOUTS: PayoutState = { owned: [], contested: [], sharers: 1 }

/**
 * Assigns payouts to owners. Anybody can name somebody else's, so of listings on different domains
 * none owns one until one proves it, or is a seed.
 *
 * The payee in a 402 does not count: a thief names the payout of an honest seller, or sends callers
 * to an address whose payments they saw on the chain.
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

/** One listing's statement on each payout. */
function toTies({ id, owner, published, proven, isSeed = false }: PayoutFacts) {
  const isProven = new Set(proven.map(normalizePayout))
  return eachOnce([...proven, ...published], normalizePayout).map((payout) => {
    const key = normalizePayout(payout)
    return { key, payout, id, owner, isProven: isProven.has(key), isSeed }
  })
}

/**
 * Ids of the listings that own a payout: those on the domains that proved it, else the seed's, as
 * editors found it on that operator's site, else those on the only domain that published it.
 */
function findOwners(tied: readonly Tie[]): Set<string> {
  const ownersOf = (ties: readonly Tie[]) => new Set(ties.map(({ owner }) => owner))
  // Two owners that both signed with the wallet are both its holders.
  const provers = ownersOf(tied.filter(({ isProven }) => isProven))
  const seeds = ownersOf(tied.filter(({ isSeed }) => isSeed))
  const publishers = ownersOf(tied)
  const owners = [provers, seeds, publishers].find(({ size }) => size > 0)
  if (owners === undefined || (owners === publishers && publishers.size > 1)) return new Set()
  return new Set(tied.filter(({ owner }) => owners.has(owner)).map(({ id }) => id))
}

/** Whose each payee is, by payee: one row where several listings of its owner share it. */
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
      // Two owners that both signed with the wallet are one: its holder.
      owner: ties.map(({ owner }) => owner).sort()[0] ?? '',
      proof: ties.some(({ isProven }) => isProven) ? 'signature' : 'published',
      listings: ties.map(({ id }) => id).sort(),
    }))
}
