import type { PaymentFacts } from '../../domain/trust/ledger-facts.ts'
import { type ListingScore, scoreListings } from '../../domain/trust/score-listings.ts'

/** Category of listings whose operator sells gift cards, credit or cash. */
const CASH_LIKE_CATEGORY = 'offramp_giftcards_payouts'

interface Market {
  /** Domains of operators that are surely independent. */
  operators: readonly string[]
  categoriesOf: (id: string) => readonly string[]
}

/**
 * Payments this service saw itself, by listing id. A seller of money equivalents vouches for
 * nobody, even if a person put it on the list: its buyers may have given nothing away.
 */
export function judgeSales(
  { asOf, payments, payees }: PaymentFacts,
  { operators, categoriesOf }: Market,
): {
  listings: ReadonlyMap<string, ListingScore>
  measuredSeeds: number
  seeds: readonly string[]
} {
  const isCashLike = (id: string) => categoriesOf(id).includes(CASH_LIKE_CATEGORY)
  const cashLike = new Set(
    payees.filter(({ listings }) => listings.some(isCashLike)).map(({ owner }) => owner),
  )
  const seeds = operators.filter((domain) => !cashLike.has(domain)).sort()
  const as_of = new Date(asOf).toISOString()
  return { ...scoreListings({ as_of, payments, payees, seeds: new Set(seeds) }), seeds }
}
