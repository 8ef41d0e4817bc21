import { DISCOVERY_FILES, KINDS, RAILS } from '../domain/wire/vocabulary.ts'
import type { SearchDocument } from './search-document.ts'

/** The known categories and sources of an index; a filter for any other is a caller's mistake. */
export interface FilterVocabulary {
  categories: readonly string[]
  sources: readonly string[]
}

/** Every value that has a bit set, in the order the bit sets lie in the file. */
export function filterValues({ categories, sources }: FilterVocabulary): string[] {
  return [
    'paid',
    ...KINDS.map((kind) => `kind:${kind}`),
    ...RAILS.map((rail) => `rail:${rail}`),
    ...DISCOVERY_FILES.map((file) => `has:${file}`),
    ...categories.map((category) => `category:${category}`),
    ...sources.map((source) => `source:${source}`),
  ]
}

/** The values that hold for a document. */
export function valuesOf(document: SearchDocument): string[] {
  return [
    ...(document.rails.length > 0 ? ['paid'] : []),
    `kind:${document.kind}`,
    ...document.rails.map((rail) => `rail:${rail}`),
    ...document.has.map((file) => `has:${file}`),
    ...document.categories.map((category) => `category:${category}`),
    ...document.sources.map((source) => `source:${source}`),
  ]
}
