import { type DerivedListing, trustScoreOf } from '../domain/derived-listing.ts'

/** How many listings a page points to as like this one. */
const MAX_SIMILAR = 6

/** Weights of what two listings share; a rare tag says more than a category. */
const TAG_WEIGHT = 3
const CATEGORY_WEIGHT = 1
const KIND_WEIGHT = 0.5

/** A tag on more listings than this says nothing, and would make the build quadratic. */
const MAX_SHARED_BY = 400

/**
 * Listings like a given one, by shared tags and categories, best first; ties by trust, then id.
 * First-party kits are left out: they stand in their own row only.
 */
export function createSimilarFinder(
  listings: readonly DerivedListing[],
): (listing: DerivedListing) => string[] {
  const organic = listings.filter(({ facts }) => !facts.first_party)
  const byTag = groupBy(organic, ({ facts }) => facts.tags)
  const byCategory = groupBy(organic, ({ facts }) => facts.categories)
  return (listing) => {
    const scores = new Map<DerivedListing, number>()
    const add = (group: DerivedListing[] | undefined, weight: number) => {
      if (group === undefined) return
      const rarity = weight / Math.log2(2 + group.length)
      for (const other of group.slice(0, MAX_SHARED_BY))
        if (other.id !== listing.id) scores.set(other, (scores.get(other) ?? 0) + rarity)
    }
    for (const tag of listing.facts.tags) add(byTag.get(tag), TAG_WEIGHT)
    for (const category of listing.facts.categories) add(byCategory.get(category), CATEGORY_WEIGHT)
    return [...scores]
      .map(([other, score]) => ({
        other,
        score: score + (other.facts.kind === listing.facts.kind ? KIND_WEIGHT : 0),
      }))
      .sort(
        (a, b) =>
          b.score - a.score ||
          trustOf(b.other) - trustOf(a.other) ||
          (a.other.id < b.other.id ? -1 : 1),
      )
      .slice(0, MAX_SIMILAR)
      .map(({ other }) => other.id)
  }
}

function trustOf(listing: DerivedListing): number {
  return trustScoreOf(listing.trust) ?? -1
}

function groupBy(
  listings: readonly DerivedListing[],
  keysOf: (listing: DerivedListing) => readonly string[],
): Map<string, DerivedListing[]> {
  const groups = new Map<string, DerivedListing[]>()
  for (const listing of listings)
    for (const key of keysOf(listing)) {
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [listing])
      else group.push(listing)
    }
  return groups
}
