import type { ListingBrief } from '../../domain/views/listing-brief.ts'
import { type ListingRow, toListingRow } from '../rows/listing-row.ts'

const MOST = 4

/** Meaningful words of an id. @example wordsOf('x402.former-tides') → ['former', 'tides'] */
export function wordsOf(id: string): string[] {
  return id
    .split('.')
    .slice(1)
    .join(' ')
    .split(/[^a-z]+/)
    .filter((word) => word.length > 2)
}

/** Finds listings whose names share words with an id; a word that few of them have weighs more. */
export function createNearby(briefs: readonly ListingBrief[]): (id: string) => ListingRow[] {
  const byWord = new Map<string, ListingBrief[]>()
  for (const brief of briefs)
    for (const word of new Set([
      ...wordsOf(brief.id),
      ...brief.tags,
      ...brief.categories.flatMap(toParts),
    ])) {
      const having = byWord.get(word)
      if (having === undefined) byWord.set(word, [brief])
      else having.push(brief)
    }
  return (id) => {
    const weights = new Map<ListingBrief, number>()
    for (const word of new Set(wordsOf(id))) {
      const having = byWord.get(word) ?? []
      for (const brief of having) weights.set(brief, (weights.get(brief) ?? 0) + 1 / having.length)
    }
    return [...weights]
      .sort(([a, x], [b, y]) => y - x || (a.id < b.id ? -1 : 1))
      .slice(0, MOST)
      .map(([brief]) => toListingRow(brief))
  }
}

const toParts = (category: string) => category.split('_')
