import {
  type FilterName,
  LISTED_FILTERS,
  LISTING_FILTERS,
} from '../../domain/search/search-filters.ts'

/** The search page's form in the address bar; its fields are the API's parameters. */
const FIELDS: readonly SearchField[] = ['q', ...LISTING_FILTERS, 'sort', 'offset']
type SearchField = 'q' | FilterName | 'sort' | 'offset'
export type SearchForm = Partial<Record<SearchField, string>>

/** Number of results on one search page. */
export const RESULTS_PER_PAGE = 20

/** Facets for the lists next to the results. */
const FACETS = LISTED_FILTERS.map(({ name }) => name).join()

/** An untouched form sends empty fields, which are not filters. Unknown parameters are left out. */
export function parseSearchForm(params: URLSearchParams): SearchForm {
  const form: SearchForm = {}
  for (const field of FIELDS) {
    const value = toLine(params.get(field) ?? '')
    if (value !== '') form[field] = value
  }
  return form
}

/** The raw query string for the search function. */
export function toApiQuery(form: SearchForm): string {
  const limit = String(RESULTS_PER_PAGE)
  return toParams(form, new URLSearchParams({ view: 'compact', limit, facets: FACETS })).toString()
}

/** The page's own address for this form. */
export function toSearchPath(form: SearchForm): string {
  const params = toParams(form)
  return params.size === 0 ? '/search' : `/search?${params}`
}

function toParams(form: SearchForm, params = new URLSearchParams()): URLSearchParams {
  for (const field of FIELDS) if (form[field]) params.set(field, form[field])
  return params
}

/** The same search with one field changed, from its first page; `null` removes the field. */
export function withField(form: SearchForm, field: SearchField, value: string | null): SearchForm {
  const { [field]: _, offset: __, ...rest } = form
  return value === null ? rest : { ...rest, [field]: value }
}

/** Replaces control characters: HTML has no way to write NUL, and none of them can be typed into a form. */
function toLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return text.replace(/[\u0000-\u001f\u007f]/g, ' ').trim()
}
