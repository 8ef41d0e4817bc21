import type { DerivedListing } from './derived-listing.ts'

/** By key, sorted. @example countBy(listings, (l) => [l.facts.kind]) → Map { 'kit' → 1 } */
export function countBy(
  listings: readonly DerivedListing[],
  keysOf: (listing: DerivedListing) => readonly string[],
): Map<string, number> {
  const counts = new Map<string, number>()
  for (const listing of listings)
    for (const key of keysOf(listing)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}
