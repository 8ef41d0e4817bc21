import type { ListingView } from '../../domain/views/listing-view.ts'
import { type ListingRow, toListingRow } from '../rows/listing-row.ts'

const MOST = 4

/** Words of an id that say something. @example wordsOf('x402.former-tides') → ['former', 'tides'] */
export function wordsOf(id: string): string[] {
  return id
    .split('.')
    .slice(1)
    .join(' ')
    .split(/[^a-z]+/)
    .filter((word) => word.length > 2)
}

/** Finds listings whose names share words with an id; a word that few of them have weighs more. */
export function createNearby(views: readonly ListingView[]): (id: string) => ListingRow[] {
  const byWord = new Map<string, ListingView[]>()
  for (const view of views)
    for (const word of new Set([
      ...wordsOf(view.id),
      ...view.tags,
      ...view.categories.flatMap(toParts),
    ]))
      byWord.set(word, [...(byWord.get(word) ?? []), view])
  return (id) => {
    const weights = new Map<ListingView, number>()
    for (const word of new Set(wordsOf(id))) {
      const having = byWord.get(word) ?? []
      for (const view of having) weights.set(view, (weights.get(view) ?? 0) + 1 / having.length)
    }
    return [...weights]
      .sort(([a, x], [b, y]) => y - x || (a.id < b.id ? -1 : 1))
      .slice(0, MOST)
      .map(([view]) => toListingRow(view))
  }
}

const toParts = (category: string) => category.split('_')
