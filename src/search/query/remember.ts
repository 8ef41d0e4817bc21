import type { SearchIndex } from '../index/index-shape.ts'

/** Words cached for one index, about a megabyte; one more clears the cache. */
const MOST_WORDS = 8192

/** Few queries are made twice, but their words recur, and an index never changes. */
export function rememberWords<Found>(
  findOut: (index: SearchIndex, word: string) => Found,
): (index: SearchIndex, word: string) => Found {
  const byIndex = new WeakMap<SearchIndex, Map<string, Found>>()
  return (index, word) => {
    const found = byIndex.get(index) ?? new Map<string, Found>()
    const known = found.get(word)
    if (known !== undefined) return known
    if (found.size === 0) byIndex.set(index, found)
    else if (found.size >= MOST_WORDS) found.clear()
    const made = findOut(index, word)
    found.set(word, made)
    return made
  }
}
