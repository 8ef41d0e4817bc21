import { normalizePayout } from '../listing/caip-account.ts'
import { largestOf } from '../wire/extremes.ts'

/** What is known of a listing's payouts, CAIP-10. */
export interface PayoutFacts {
  id: string
  /** The domain somebody registered, or a tenant's own host. */
  owner: string
  /** What people published in content. */
  published: readonly string[]
  /** What the seller's own 402 named to our probe. */
  named: readonly string[]
  /** What the owner of the listing's claim proved by a signature. */
  proven: readonly string[]
}

export interface PayoutStanding {
  /** Payments to these count for the listing. */
  counts: readonly string[]
  /** Payments to these count for nobody here until the payout is proved. */
  contested: readonly string[]
  /** Listings that share the payout of this one that most share, at least 1. */
  sharers: number
}

export const NO_PAYOUTS: PayoutStanding = { counts: [], contested: [], sharers: 1 }

/**
 * Which payouts count for which listing. Trust follows payouts, and anybody can write down somebody
 * else's, so of listings on different domains none has it until one proves it. What only a 402 named
 * never contests what people published or somebody proved: naming a victim's payout harms nobody.
 */
export function judgePayouts(listings: readonly PayoutFacts[]): Map<string, PayoutStanding> {
  const ties = listings.flatMap(toTies)
  const byPayout = Map.groupBy(ties, ({ key }) => key)
  const counting = new Map([...byPayout].map(([key, tied]) => [key, findCounting(tied)]))
  const standings = new Map<string, PayoutStanding>()
  for (const [id, own] of Map.groupBy(ties, (tie) => tie.id)) {
    const isCounted = ({ key }: Tie) => counting.get(key)?.has(id) === true
    const sharersOf = (tie: Tie) =>
      isCounted(tie) ? counting.get(tie.key)?.size : countPublishers(byPayout.get(tie.key))
    standings.set(id, {
      counts: own.filter(isCounted).map(({ payout }) => payout),
      contested: own.filter((tie) => !isCounted(tie)).map(({ payout }) => payout),
      sharers: largestOf(
        own.map((tie) => sharersOf(tie) ?? 1),
        1,
      ),
    })
  }
  return standings
}

/** One listing's strongest tie to one payout. */
interface Tie {
  key: string
  payout: string
  id: string
  owner: string
  by: 'proven' | 'published' | 'named'
}

function toTies({ id, owner, published, named, proven }: PayoutFacts): Tie[] {
  const ties = new Map<string, Tie>()
  const add = (by: Tie['by'], payouts: readonly string[]) => {
    for (const payout of payouts) {
      const key = normalizePayout(payout)
      if (!ties.has(key)) ties.set(key, { key, payout, id, owner, by })
    }
  }
  add('proven', proven)
  add('published', published)
  add('named', named)
  return [...ties.values()]
}

/** Ids of the listings a payout counts for: those of the owner with the strongest word, if it is one. */
function findCounting(tied: readonly Tie[]): Set<string> {
  const ownersBy = (by: Tie['by']) =>
    new Set(tied.filter((tie) => tie.by === by).map(({ owner }) => owner))
  const provers = ownersBy('proven')
  // Two owners that both signed with the wallet are both its holders.
  if (provers.size > 0) return idsOf(tied, provers)
  const publishers = ownersBy('published')
  const strongest = publishers.size > 0 ? publishers : ownersBy('named')
  return strongest.size === 1 ? idsOf(tied, strongest) : new Set()
}

function idsOf(tied: readonly Tie[], owners: ReadonlySet<string>): Set<string> {
  return new Set(tied.filter(({ owner }) => owners.has(owner)).map(({ id }) => id))
}

function countPublishers(tied: readonly Tie[] = []): number {
  return tied.filter(({ by }) => by !== 'named').length
}
