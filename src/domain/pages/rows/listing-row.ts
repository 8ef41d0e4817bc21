import { hasRemoteEndpoint } from '../../listing/invoke.ts'
import { lowestPriceOf, railsOf } from '../../listing/pricing.ts'
import { toPriceText } from '../../operation/price-text.ts'
import type { ListingView } from '../../views/listing-view.ts'
import type { TrustSummary } from '../../views/trust-view.ts'
import { KIND_LABELS, type Kind, type Rail } from '../../wire/vocabulary.ts'

/** A listing in a list or table of a page. Unknown numbers are null: unknown is not zero. */
export interface ListingRow {
  id: string
  name: string
  summary: string
  kind: Kind
  kind_label: string
  categories: readonly string[]
  page: string
  price: string
  min_usd: number | null
  rails: readonly Rail[]
  trust: number | null
  is_small_sample: boolean
  buyers: number | null
  remote: boolean
  /** Where it runs, in a word. */
  runs: 'hosted' | 'locally' | 'a guide'
  first_party: boolean
}

type RowSubject = Pick<
  ListingView,
  'id' | 'name' | 'summary' | 'kind' | 'categories' | 'page' | 'pricing' | 'invoke' | 'first_party'
> & { trust: TrustSummary }

export function toListingRow(view: RowSubject): ListingRow {
  const { trust } = view
  return {
    id: view.id,
    name: view.name,
    summary: view.summary,
    kind: view.kind,
    kind_label: KIND_LABELS[view.kind],
    categories: view.categories,
    page: view.page,
    price: toPriceText(view.pricing),
    min_usd: lowestPriceOf(view.pricing),
    rails: railsOf(view.pricing),
    trust: trust.score,
    is_small_sample: trust.evidence === 'verified_non_wash_payments' && trust.sample === 'low',
    buyers: trust.evidence === 'no_payment_data' ? null : trust.verified_buyers_30d,
    remote: hasRemoteEndpoint(view),
    runs: view.kind === 'kit' ? 'a guide' : hasRemoteEndpoint(view) ? 'hosted' : 'locally',
    first_party: view.first_party,
  }
}

/**
 * The order of every list without a query: payment-verified trust, verified buyers, remote, has a
 * price, lowest price, id. First-party kits stand last: a showcase takes nobody's place.
 */
export function compareListingRows(a: ListingRow, b: ListingRow): number {
  return (
    Number(a.first_party) - Number(b.first_party) ||
    (b.trust ?? -1) - (a.trust ?? -1) ||
    (b.buyers ?? -1) - (a.buyers ?? -1) ||
    Number(b.remote) - Number(a.remote) ||
    Number(b.min_usd !== null) - Number(a.min_usd !== null) ||
    (a.min_usd ?? 0) - (b.min_usd ?? 0) ||
    (a.id < b.id ? -1 : 1)
  )
}

/** Place of each listing in that order, counted from 1: the order of a search without words. */
export function toRanks(listings: readonly { view: ListingView }[]): Map<string, number> {
  const order = listings.map(({ view }) => toListingRow(view)).sort(compareListingRows)
  return new Map(order.map(({ id }, index) => [id, index + 1]))
}
