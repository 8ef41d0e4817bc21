import type { DerivedListing } from '../derived/derived-listing.ts'
import { costOf } from '../listing/pricing.ts'
import { markPath, pagePath } from '../wire/links.ts'
import { type Sources, toPaidWords } from './known-view.ts'
import type { ListingView } from './listing-view.ts'
import { toInvokeView } from './summary-view.ts'
import { type TrustSummary, toTrustSummary } from './trust-view.ts'

/** What lists print of a listing: the same members as in its view, of its trust those that a summary has. */
export type ListingBrief = Pick<
  ListingView,
  | 'id'
  | 'name'
  | 'summary'
  | 'kind'
  | 'categories'
  | 'tags'
  | 'pricing'
  | 'cost'
  | 'invoke'
  | 'first_party'
  | 'mark'
  | 'badges'
  | 'page'
> & {
  trust: TrustSummary
  auth: Pick<ListingView['auth'], 'type'>
  /** Who was seen to pay, in a few words; absent where nothing is known. */
  paid?: string
}

export function toListingBrief(listing: DerivedListing, sources: Sources): ListingBrief {
  const { id, facts, trust, mark, badges } = listing
  const paid = toPaidWords(listing, sources)
  const { name, summary, kind, categories, tags, pricing, first_party } = facts
  return {
    ...{ id, name, summary, kind, categories, tags, pricing, first_party, badges },
    cost: costOf(facts),
    invoke: toInvokeView(facts.invoke),
    ...(mark !== null && { mark: markPath(mark) }),
    page: pagePath(id),
    trust: toTrustSummary(trust),
    auth: { type: facts.auth.type },
    ...(paid !== null && { paid }),
  }
}
