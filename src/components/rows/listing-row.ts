import { compareRows } from '../../domain/compare/compare-view.ts'
import {
  chargeOf,
  listedPriceOf,
  toCostText,
  toRangeText,
  UNPUBLISHED,
} from '../../domain/listing/price-text.ts'
import { railsOf } from '../../domain/listing/pricing.ts'
import type { PageResponse } from '../../domain/search/search-response.ts'
import type { ListingBrief } from '../../domain/views/listing-view.ts'
import type { TrustSummary } from '../../domain/views/trust-view.ts'
import { present } from '../../domain/wire/json.ts'
import { hasRemoteEndpoint } from '../../domain/wire/vocabulary.ts'

export type ListingRow = ReturnType<typeof toListingRow>

/** A listing in a list or table of a page. Unknown numbers are null: unknown is not zero. */
export function toListingRow(view: Omit<ListingBrief, 'tags' | 'badges'>) {
  const { kind, pricing, trust } = view
  const remote = hasRemoteEndpoint(view)
  return {
    ...view,
    /** Of a call, in words; null where it is not published. */
    price: toPrice(view),
    min_usd: listedPriceOf(view),
    rails: railsOf(pricing),
    trust: trust.score,
    /** The text next to the score; may be empty. */
    trust_note: toTrustNote(trust),
    buyers: trust.evidence === 'no_payment_data' ? null : trust.verified_buyers_30d,
    remote,
    /** Where it runs, in a word. */
    runs: kind === 'kit' ? 'a guide' : remote ? 'hosted' : 'locally',
  }
}

/** A row of an answer or of a list. */
export interface SearchRow extends Omit<PageResponse['results'][number], 'call' | 'explain'> {
  /** Where no price is known, what its callers are charged, in words. */
  cost?: string | undefined
  /** Beside a score. */
  trust_note?: string
  /** In a list, what tells its rows apart, in place of their kind. */
  place?: string
  /** Where it runs, in a word. */
  runs?: string
  is_ours?: boolean
}

/** As a result of a search, which a directory may show without prices or scores. */
export function toSearchRow(
  row: ListingRow,
  { payments, trust }: { payments: boolean; trust: boolean },
): SearchRow {
  return {
    ...{ id: row.id, name: row.name, kind: row.kind, summary: row.summary },
    ...present({ mark: row.mark, paid: payments ? row.paid : undefined }),
    price: payments && row.pricing.model === 'per_call' ? row.pricing : null,
    cost: payments ? (row.price ?? undefined) : undefined,
    rails: payments ? row.rails : [],
    auth: row.auth.type,
    trust: trust ? row.trust : null,
    trust_note: row.trust_note,
  }
}

/** What a caller needs, in a word; null where it is not known. */
export const ACCESS = {
  none: 'none',
  payment: 'payment',
  api_key: 'key',
  bearer: 'token',
  oauth: 'sign-in',
  other: 'its own way',
  unknown: null,
} as const

function toPrice(view: Pick<ListingBrief, 'pricing' | 'cost' | 'kind' | 'invoke' | 'auth'>) {
  if (view.pricing.model === 'per_call') return toRangeText(view.pricing)
  // Which account it works with is said as its access.
  if (chargeOf(view) === 'own_account') return 'free to run'
  const text = toCostText(view)
  return text === UNPUBLISHED ? null : text
}

/** @example toTrustNote(trust) → 'low sample, not vouched for' */
export function toTrustNote(trust: TrustSummary): string {
  if (trust.evidence !== 'verified_non_wash_payments') return ''
  const notes = [
    trust.sample === 'low' ? 'low sample' : '',
    trust.unknown_buyers_30d === undefined ? 'not vouched for' : '',
  ]
  return notes.filter((note) => note !== '').join(', ')
}

/**
 * The order of every list without a query: payment-verified trust, verified buyers, remote, has a
 * price or is free, lowest price, id. First-party kits come last: a showcase takes nobody's place.
 */
export function compareListingRows(a: ListingRow, b: ListingRow): number {
  return Number(a.first_party) - Number(b.first_party) || compareRows(a, b)
}
