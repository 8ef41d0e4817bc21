import { PRICE_STEPS, TRUST_STEPS } from '../domain/pages/search/listing-facets.ts'
import {
  parseSearchForm,
  type SearchField,
  type SearchForm,
} from '../domain/pages/search/search-form.ts'

/** Name of each field's filter in the index. */
const FACETS = {
  kind: 'kind',
  category: 'category',
  rail: 'rail',
  source: 'source',
  max_price_usd: 'price',
  min_trust: 'trust',
  remote: 'remote',
} as const satisfies Partial<Record<SearchField, string>>

const FACET_FIELDS = [
  'kind',
  'category',
  'rail',
  'source',
  'max_price_usd',
  'min_trust',
  'remote',
] as const

/** Filters as Pagefind takes them, by facet. */
export function toFilters(form: SearchForm): Record<string, string> {
  const filters: Record<string, string> = {}
  for (const field of FACET_FIELDS) {
    const value = form[field]
    if (value !== undefined) filters[FACETS[field]] = value
  }
  return filters
}

export function readForm(form: HTMLFormElement): SearchForm {
  const params = new URLSearchParams()
  for (const [name, value] of new FormData(form))
    if (typeof value === 'string') params.set(name, value)
  return parseSearchForm(params)
}

/** The index knows steps of price and trust, and no kits or discovery files: the rest the server answers. */
export function isAnsweredHere(form: SearchForm): boolean {
  const price = form.max_price_usd
  const trust = form.min_trust
  if (form.has !== undefined || form.paid_only !== undefined || form.kind === 'kit') return false
  if (price !== undefined && !PRICE_STEPS.some((step) => String(step) === price)) return false
  return trust === undefined || trust === '0' || TRUST_STEPS.some((step) => String(step) === trust)
}
