import { KIND_LABELS, KINDS } from '../../domain/wire/vocabulary.ts'

/** The filters of the index next to the pages, in words: its interface shows them as they are. */
const FACETS = {
  kind: (id: string) => KIND_LABELS[KINDS.find((kind) => kind === id) ?? 'http_api'],
  category: toWords,
  rail: toWords,
  runs: toWords,
  auth: toWords,
} as const
export type IndexFacet = keyof typeof FACETS

function toWords(id: string): string {
  return id.replaceAll('_', ' ')
}

/** @example toFacetWords({ kind: 'http_api', q: 'weather' }) → { kind: ['HTTP API'] } */
export function toFacetWords(
  values: Readonly<Record<string, string | readonly string[]>>,
): Partial<Record<IndexFacet, string[]>> {
  return Object.fromEntries(
    Object.entries(FACETS).flatMap(([name, words]) => {
      const ids = [values[name] ?? []].flat()
      return ids.length === 0 ? [] : [[name, ids.map(words)]]
    }),
  )
}
