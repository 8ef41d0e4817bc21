import { compareRows } from '../../domain/compare/compare-view.ts'
import type { Switches } from '../../domain/derived/tables.ts'
import { listedPriceOf, railsOf, toCostText, UNPUBLISHED } from '../../domain/listing/pricing.ts'
import type { PageResponse } from '../../domain/search/search-response.ts'
import type { ListingBrief } from '../../domain/views/listing-view.ts'
import type { TrustSummary } from '../../domain/views/trust-view.ts'
import { present } from '../../domain/wire/json.ts'
import { hasRemoteEndpoint } from '../../domain/wire/vocabulary.ts'

/** A row in a search's answer or in a list. */
export interface ListingRow extends Omit<PageResponse['results'][number], 'call' | 'explain'> {
  /** What the listing's callers are charged, in words, if no price is known. */
  cost?: string | undefined
  /** A note next to a score. */
  trust_note?: string
  /** Replaces the kind in a list whose rows all have the same kind. */
  place?: string
  /** Where the listing runs, as one word. */
  runs?: string
  is_ours?: boolean
}

export type Brief = Omit<ListingBrief, 'tags' | 'badges'>

/** A listing as a row of a list, without prices or scores if the directory shows none. */
export function toListingRow(view: Brief, { payments, trust }: RowSwitches): ListingRow {
  const { id, name, kind, summary, mark, paid, pricing, auth, warning } = view
  return {
    ...{ id, name, kind, summary },
    ...present({ mark, warning, paid: payments ? paid : undefined }),
    price: payments && pricing.model === 'per_call' ? pricing : null,
    cost: payments ? toCost(view) : undefined,
    rails: payments ? railsOf(pricing) : [],
    auth: auth.type,
    trust: trust ? view.trust.score : null,
    trust_note: toTrustNote(view.trust),
  }
}

type RowSwitches = Pick<Switches, 'payments' | 'trust'>

/** Where a listing runs, in a word or two. */
export function toPlace(view: Brief): string {
  if (view.kind === 'kit') return 'a guide'
  return hasRemoteEndpoint(view) ? 'hosted' : 'locally'
}

function toCost(view: Brief): string | undefined {
  const text = toCostText(view)
  return text === UNPUBLISHED ? undefined : text
}

/** The note next to a score if no independent seller vouches for its buyers. */
export const UNVOUCHED = 'nobody vouches for its buyers'

/** @example toTrustNote(trust) → 'low sample, nobody vouches for its buyers' */
export function toTrustNote(trust: TrustSummary): string {
  if (trust.evidence !== 'verified_non_wash_payments') return ''
  const notes = [
    trust.sample === 'low' ? 'low sample' : '',
    trust.unknown_buyers_30d === undefined ? UNVOUCHED : '',
  ]
  return notes.filter((note) => note !== '').join(', ')
}

/**
 * The order of every list without a query: payment-verified trust, verified buyers, remote, has a price
 * or is free, lowest price, does a known task, id. First-party kits come last, so that they take no other listing's place.
 */
export function compareListings(a: Brief, b: Brief): number {
  return Number(a.first_party) - Number(b.first_party) || compareRows(toRanked(a), toRanked(b))
}

/**
 * The same order in words.
 * @param has which values occur in any row, and how many rows are our own kits
 */
export function toOrderText(has: {
  trust: boolean
  places: boolean
  prices: boolean
  ours?: number
}): string {
  return [
    has.trust && 'by payment-verified trust',
    has.places && 'hosted ones first',
    has.prices && 'the cheapest first',
    'those of a known task first',
    has.ours && `${has.ours} made by us`,
  ]
    .filter(Boolean)
    .join(', then ')
}

function toRanked(view: Brief) {
  const { id, trust } = view
  return {
    id,
    trust: trust.score,
    buyers: trust.evidence === 'no_payment_data' ? null : trust.verified_buyers_30d,
    remote: hasRemoteEndpoint(view),
    min_usd: listedPriceOf(view),
    tasks: view.tasks,
  }
}
