import type { Tables } from '../../domain/derived/tables.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'

/** A dot is one service; the scale is logarithmic between these prices of one call, US dollars. */
const LOWEST = 0.0001
const HIGHEST = 1
export const SCALE_WIDTH = 400

export interface TaskPrices {
  id: string
  name: string
  /** Lowest price first; each listing once. */
  offers: { id: string; name: string; page: string; usd: number; x: number }[]
}

/** Tasks that at least two outside listings offer at a price, the most offered first. */
export function toTaskPrices(
  tasks: Tables['tasks'],
  listings: readonly { view: ListingView }[],
  length: number,
): TaskPrices[] {
  const offers = new Map<string, Map<string, TaskPrices['offers'][number]>>()
  for (const { view } of listings)
    if (!view.first_party)
      for (const { task, price } of view.operations) {
        if (task === undefined || price === undefined || price.per !== 'call') continue
        const own = offers.get(task) ?? new Map()
        offers.set(task, own)
        if (price.min_usd >= (own.get(view.id)?.usd ?? Number.POSITIVE_INFINITY)) continue
        const { id, name, page } = view
        own.set(id, { id, name, page, usd: price.min_usd, x: toX(price.min_usd) })
      }
  return tasks
    .flatMap(({ id, name }) => {
      const own = [...(offers.get(id)?.values() ?? [])].sort(
        (a, b) => a.usd - b.usd || (a.id < b.id ? -1 : 1),
      )
      return own.length < 2 ? [] : [{ id, name, offers: own }]
    })
    .sort((a, b) => b.offers.length - a.offers.length)
    .slice(0, length)
}

function toX(usd: number): number {
  const low = Math.log10(LOWEST)
  const share =
    (Math.log10(Math.min(Math.max(usd, LOWEST), HIGHEST)) - low) / (Math.log10(HIGHEST) - low)
  return Math.round(share * SCALE_WIDTH)
}
