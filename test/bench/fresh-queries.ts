import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { createDraws, type Draws } from '../support/random.ts'

type Texts = Pick<SearchDocument, 'name' | 'tags' | 'summary'>

/**
 * Queries that nobody asked before, no two alike: names, and one to four words that some listing has in
 * its name, tags or summary; one in eight with a slip. Whoever asks each of them once measures the
 * search itself and not what is remembered of it.
 */
export function createFreshQueries(listings: readonly Texts[], count: number): string[] {
  const random = createDraws(count)
  const made = new Set<string>()
  while (made.size < count) made.add(makeQuery(listings, random))
  return [...made]
}

function makeQuery(listings: readonly Texts[], random: Draws): string {
  const { name, tags, summary } = random.pick(listings)
  if (random.below(8) === 0) return name
  const words =
    `${name} ${tags.join(' ')} ${summary}`.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []
  if (words.length === 0) return name
  const chosen = Array.from({ length: 1 + random.below(4) }, () => random.pick(words))
  return random.below(8) === 0 ? slip(chosen.join(' '), random) : chosen.join(' ')
}

/** Two neighbours change places. */
function slip(query: string, random: Draws): string {
  const at = random.below(Math.max(1, query.length - 1))
  return `${query.slice(0, at)}${query[at + 1] ?? ''}${query[at] ?? ''}${query.slice(at + 2)}`
}
