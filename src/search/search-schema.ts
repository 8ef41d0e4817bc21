import type { SearchField } from '../domain/search/search-rank.ts'
import { documentFields } from './document-fields.ts'
import type { SearchDocument } from './search-document.ts'

/**
 * The properties Orama sees. Texts go through the tokenizer; `…_terms` hold ready terms (ids,
 * hosts), apart from the texts so that no text can pass itself off as one.
 */
export const SEARCH_SCHEMA = {
  name: 'string[]',
  name_terms: 'string[]',
  labels: 'string[]',
  summary: 'string[]',
  summary_terms: 'string[]',
} as const

export const PROPERTY_FIELDS: Record<string, SearchField> = {
  name: 'name',
  name_terms: 'name',
  labels: 'labels',
  summary: 'summary',
  summary_terms: 'summary',
}

/** Properties whose values are terms already. */
export const READY_PROPERTIES: ReadonlySet<string> = new Set(['name_terms', 'summary_terms'])

export function toOramaDocument(document: SearchDocument) {
  const { name, labels, summary } = documentFields(document)
  return {
    id: document.id,
    name: [...name.texts],
    name_terms: [...name.terms],
    labels: [...labels.texts],
    summary: [...summary.texts],
    summary_terms: [...summary.terms],
  }
}
