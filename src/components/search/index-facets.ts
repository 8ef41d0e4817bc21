import { filterOf, toFilterWords } from '../../domain/search/search-filters.ts'

/** Filters of the static index. Its interface shows values as stored, so words are stored instead of ids. */
const FACETS = ['kind', 'category', 'price', 'rail', 'runs', 'auth'] as const

/** @example toFacetWords({ kind: 'http_api', q: 'weather' }) → { kind: ['HTTP API'] } */
export function toFacetWords(
  values: Readonly<Record<string, string | readonly string[]>>,
): Partial<Record<(typeof FACETS)[number], string[]>> {
  const found = FACETS.map((facet) => {
    const name = filterOf(facet)
    const ids = [values[name] ?? []].flat()
    return [facet, ids.map((id) => toFilterWords(name, id).replaceAll('_', ' '))] as const
  })
  return Object.fromEntries(found.filter(([, words]) => words.length > 0))
}
