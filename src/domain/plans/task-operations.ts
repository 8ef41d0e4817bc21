import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import { toKitOperations } from '../kit/kit-operations.ts'
import { listedPriceOf } from '../listing/pricing.ts'
import { smallestOf } from '../wire/extremes.ts'
import type { HttpMethod } from '../wire/vocabulary.ts'

/** An operation or tool that does a task, whether or not a plan can fill its request. */
export interface TaskOperation {
  task: string
  listing: { id: string; name: string; trust: number | null }
  /** An operation over HTTP by method and address, a tool by its name. */
  operation: { method: HttpMethod; url: string } | { name: string }
  description?: string
  /** The lowest price of one call in US dollars: 0 for free; null where unknown. */
  usd: number | null
}

/** What a listing does of the tasks, in its own order of operations. */
export function toTaskOperations(listing: DerivedListing): TaskOperation[] {
  const { id, facts, surface, trust } = listing
  const shown = { id, name: facts.name, trust: trustScoreOf(trust) }
  const listed = listedPriceOf(facts)
  const operations = toKitOperations(listing, null).flatMap((operation): TaskOperation[] => {
    const { task, method, url, description, price, offers = [] } = operation
    if (task === undefined) return []
    const prices = [
      ...offers.map(({ min_usd }) => min_usd),
      ...(price === undefined ? [] : [price.min_usd]),
    ]
    return [
      {
        ...{ task, listing: shown, operation: { method, url } },
        ...(description !== undefined && { description }),
        usd: prices.length > 0 ? smallestOf(prices) : listed,
      },
    ]
  })
  const tools = surface.tools.flatMap(({ task, name, description }): TaskOperation[] =>
    task === undefined
      ? []
      : [{ task, listing: shown, operation: { name }, description, usd: listed }],
  )
  return [...operations, ...tools]
}
