import * as v from 'valibot'
import { fitLists } from '../../search/fitted-lists.ts'
import type { ListingView } from '../../views/listing-view.ts'
import { SellerTextsSchema } from '../../wire/seller-texts.ts'

/** Parts of a full listing that are addresses and markup for people: derivable, or of no use in a decision. */
const LEFT_OUT = new Set([
  ...['tiers', 'claim', 'page', 'kit_manifest', 'go', 'badges', 'attribution'],
  // `known` has the sentence of it.
  'reported_use',
])

/** Members a large service has many of: get_kit shows each of them in full. */
const LISTS = ['operations', 'tools', 'skills', 'invoke', 'sources']

/** A full listing for an agent: the same members without those only people use. */
export const ListingCardSchema = v.looseObject({
  id: v.string(),
  name: v.string(),
  kind: v.string(),
  summary: v.string(),
  url: v.string(),
  trust: v.looseObject({ score: v.nullable(v.number()), evidence: v.string() }),
  texts: SellerTextsSchema,
})
export type ListingCard = v.InferOutput<typeof ListingCardSchema>

export function toListingCard(view: ListingView): ListingCard {
  const kept = Object.entries(view).filter(
    ([name, value]) => !LEFT_OUT.has(name) && hasContent(value),
  )
  const { id, name, kind, summary, url, trust, texts } = view
  const card = { id, name, kind, summary, url, trust, ...Object.fromEntries(kept), texts }
  return fitLists<ListingCard>(card, LISTS)
}

function hasContent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return typeof value !== 'object' || value === null || Object.keys(value).length > 0
}
