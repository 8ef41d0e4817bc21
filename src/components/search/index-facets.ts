import { toFilterWords } from '../../domain/search/search-filters.ts'
import { KIND_LABELS, KINDS } from '../../domain/wire/vocabulary.ts'

/**
 * The filters of the index next to the pages, in words: its interface shows them as they are. Each with
 * its parameter of a search.
 */
const FACETS = {
  kind: ['kind', (id: string) => KIND_LABELS[KINDS.find((kind) => kind === id) ?? 'http_api']],
  category: ['category', toWords],
  price: ['max_price_usd', (id: string) => toFilterWords('max_price_usd', id)],
  rail: ['rail', toWords],
  runs: ['runs', toWords],
  auth: ['auth', toWords],
} as const
type IndexFacet = keyof typeof FACETS

function toWords(id: string): string {
  return id.replaceAll('_', ' ')
}

/** @example toFacetWords({ kind: 'http_api', q: 'weather' }) → { kind: ['HTTP API'] } */
export function toFacetWords(
  values: Readonly<Record<string, string | readonly string[]>>,
): Partial<Record<IndexFacet, string[]>> {
  return Object.fromEntries(
    Object.entries(FACETS).flatMap(([name, [parameter, words]]) => {
      const ids = [values[parameter] ?? []].flat()
      return ids.length === 0 ? [] : [[name, ids.map(words)]]
    }),
  )
}
