import { filterOf, toFilterWords } from '../../domain/search/search-filters.ts'

/** The static index's filters, whose interface shows their values as they are. */
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
