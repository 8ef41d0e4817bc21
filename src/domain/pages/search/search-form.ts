/**
 * The search page's form, in the address bar: the API's parameters, and `remote`, which only the
 * index in the browser answers. Shared by the page on the server and the script in the browser.
 */
const API_FIELDS = [
  'q',
  'kind',
  'category',
  'rail',
  'source',
  'max_price_usd',
  'min_trust',
  'paid_only',
  'has',
  'offset',
] as const
type ApiField = (typeof API_FIELDS)[number]
export type SearchField = ApiField | 'remote'
export type SearchForm = Partial<Record<SearchField, string>>

const FIELDS: readonly SearchField[] = [...API_FIELDS, 'remote']

/** Results on one page of the search. */
export const RESULTS_PER_PAGE = 20

/** Empty fields are what an untouched form sends: they are no filters. Others' parameters are left out. */
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
  const params = new URLSearchParams({ limit: String(RESULTS_PER_PAGE) })
  for (const field of API_FIELDS) {
    const value = form[field]
    if (value !== undefined) params.set(field, value)
  }
  return params.toString()
}

/** The page's own address for this form. */
export function toSearchPath(form: SearchForm): string {
  const params = new URLSearchParams()
  for (const field of FIELDS) {
    const value = form[field]
    if (value !== undefined && value !== '') params.set(field, value)
  }
  const query = params.toString()
  return query === '' ? '/search' : `/search?${query}`
}

/** No control characters: HTML has no way to write NUL, and none of them can be typed into a form. */
function toLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return text.replace(/[\u0000-\u001f\u007f]/g, ' ').trim()
}
