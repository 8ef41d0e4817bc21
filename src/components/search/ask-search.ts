import { type SearchResults, toResults } from './search-answer.ts'
import { type SearchForm, toApiQuery } from './search-form.ts'

/** Results, or why there are none: a sentence of the function's own. */
export type Asked = SearchResults | { kind: 'refused'; reason: string }

/** How many rows, and whether with counts for the filter lists. */
export interface Asking {
  limit: number
  hasFacets: boolean
  signal: AbortSignal
}

/** A copy of the site without functions stays without them while a page is open. */
let isWithoutFunction = false

/**
 * Asks the function that answers the submitted page, for short rows; without functions, the index
 * next to the pages, which is loaded only then.
 * @throws when neither answers
 */
export async function askSearch(form: SearchForm, asking: Asking): Promise<Asked> {
  const answer = isWithoutFunction ? null : await askFunction(form, asking)
  if (answer !== null) return answer
  const { askIndex } = await import('./ask-index.ts')
  return askIndex(form, asking.limit)
}

/** @returns null where no function answers: a static host, or no server at all */
async function askFunction(form: SearchForm, { signal, ...asking }: Asking): Promise<Asked | null> {
  const address = `/api/v1/search?${toApiQuery(form, asking)}`
  const headers = { 'Search-Typing': '1' }
  const response = await fetch(address, { signal, headers }).catch((error: unknown) => {
    if (signal.aborted) throw error
    return null
  })
  if (response === null) return null
  const isJson = response.headers.get('content-type')?.includes('json') === true
  // A web server's error for a function that is down is transient.
  isWithoutFunction = !isJson && response.status < 500
  if (!isJson) return null
  // Typed `any`: of our own API, and of the same release as this script.
  const found = await response.json()
  return response.ok ? toResults(found) : { kind: 'refused', reason: toReason(found) }
}

function toReason(problem: {
  detail?: string
  errors?: { name: string; detail: string }[]
}): string {
  const errors = problem.errors?.map(({ name, detail }) => `${name}: ${detail}`) ?? []
  return errors.length > 0 ? errors.join('; ') : (problem.detail ?? 'The search did not answer.')
}
