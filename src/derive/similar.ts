import { type DerivedListing, trustScoreOf } from '../domain/derived/derived-listing.ts'
import { KINDS } from '../domain/wire/vocabulary.ts'

/** How many similar listings a page links to. */
const MAX_SIMILAR = 6

/** What two listings may share, with weights: tasks have the most weight, a category the least. */
const SHARED: readonly (readonly [
  weight: number,
  keysOf: (listing: DerivedListing) => string[],
])[] = [
  [8, ({ surface }) => surface.operations.flatMap(({ task }) => task ?? [])],
  [3, ({ surface }) => surface.tools.map(({ name }) => name.toLowerCase().replaceAll('-', '_'))],
  [3, ({ facts }) => facts.tags],
  [1, ({ facts }) => facts.categories],
]
const KIND_WEIGHT = 0.5

/** A tag on more listings than this means nothing, and would make the build quadratic. */
const MAX_SHARED_BY = 400

/**
 * Listings like a given one, by shared tasks, tools, tags and categories, best first; ties by
 * trust, then id. First-party kits are left out, because they have their own row.
 * @param listings sorted by id
 */
export function createSimilarFinder(
  listings: readonly DerivedListing[],
): (listing: DerivedListing) => string[] {
  const organic = listings.filter(({ facts }) => !facts.first_party)
  const shared = SHARED.map(([weight, keysOf]) => {
    const keys = (listing: DerivedListing) => [...new Set(keysOf(listing))]
    return { weight, keys, groups: groupBy(organic, keys) }
  })
  // Listings are positions here, with one array of scores for all calls: with 15,000 listings, a map for each
  // call and a sort of all related listings took a third of the build's own time.
  const scores = new Float64Array(organic.length)
  const best = createBest(organic)
  return (listing) => {
    const touched: number[] = []
    const add = (group: Int32Array | undefined, weight: number) => {
      if (group === undefined) return
      const rarity = weight / Math.log2(2 + group.length)
      for (const place of group.subarray(0, MAX_SHARED_BY)) {
        if (scores[place] === 0) touched.push(place)
        scores[place] = (scores[place] ?? 0) + rarity
      }
    }
    for (const { weight, keys, groups } of shared)
      for (const key of keys(listing)) add(groups.get(key), weight)
    const ids = best(listing, touched, scores)
    for (const place of touched) scores[place] = 0
    return ids
  }
}

/** Searches only arrays of numbers, because the listings are scattered over memory. */
function createBest(organic: readonly DerivedListing[]) {
  const trust = Float64Array.from(organic, ({ trust }) => trustScoreOf(trust) ?? -1)
  const kinds = Uint8Array.from(organic, ({ facts }) => KINDS.indexOf(facts.kind))
  return (listing: DerivedListing, touched: readonly number[], scores: Float64Array): string[] => {
    const own = KINDS.indexOf(listing.facts.kind)
    const scoreOf = (place: number) => scores[place] ?? 0
    const trustOf = (place: number) => trust[place] ?? -1
    const isBetter = (one: number, other: number) => {
      const better = scoreOf(one) - scoreOf(other) || trustOf(one) - trustOf(other)
      return better > 0 || (better === 0 && one < other)
    }
    const found: number[] = []
    for (const place of touched) {
      if (kinds[place] === own) scores[place] = scoreOf(place) + KIND_WEIGHT
      const last = found[MAX_SIMILAR - 1]
      if (last !== undefined && !isBetter(place, last)) continue
      if (organic[place]?.id === listing.id) continue
      let at = Math.min(found.length, MAX_SIMILAR - 1)
      for (; at > 0 && isBetter(place, found[at - 1] ?? place); at -= 1)
        found[at] = found[at - 1] ?? place
      found[at] = place
    }
    return found.flatMap((place) => organic[place]?.id ?? [])
  }
}

/** Positions in `listings` by key, in list order. */
function groupBy(
  listings: readonly DerivedListing[],
  keysOf: (listing: DerivedListing) => readonly string[],
): Map<string, Int32Array> {
  const groups = new Map<string, number[]>()
  listings.forEach((listing, place) => {
    for (const key of keysOf(listing)) {
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [place])
      else group.push(place)
    }
  })
  return new Map([...groups].map(([key, places]) => [key, Int32Array.from(places)]))
}
