import * as v from 'valibot'
import { described, optionally, whole } from '../wire/shapes.ts'
import { SEARCH_SORTS, SEARCH_VIEWS } from '../wire/vocabulary.ts'
import {
  FILTER_ROWS,
  type Filter,
  type FilterValues,
  LISTING_FILTERS,
  SEARCH_FACETS,
} from './search-filters.ts'

/** Characters of `q` a caller may send; the engine reads as many at most. */
export const MAX_QUERY_CHARACTERS = 1000
/** An endpoint's share of `SearchQuery`: its page size, and the parameters it omits. */
export interface SearchEndpoint {
  defaultLimit: number
  maxLimit: number
  without: readonly string[]
}
export const LISTINGS_ENDPOINT: SearchEndpoint = {
  defaultLimit: 20,
  maxLimit: 50,
  without: FILTER_ROWS.flatMap(([name]) => (LISTING_FILTERS.includes(name) ? [] : [name])),
}
export const OPERATIONS_ENDPOINT: SearchEndpoint = {
  defaultLimit: 5,
  maxLimit: 20,
  without: ['sort', 'facets', 'view', 'explain'],
}
/** Largest 32-bit number: no directory is as long, and every client can say it. */
export const MAX_OFFSET = 2_147_483_647

/** On the wire this is the `query` echo; OpenAPI takes its words from the descriptions. */
export const SearchQuerySchema = v.object({
  q: optionally(
    v.string(),
    `A task or keywords, at most ${MAX_QUERY_CHARACTERS} characters; any of the words may match. Also taken as query.`,
  ),
  ...filterEntries(),
  sort: optionally(
    v.picklist(SEARCH_SORTS),
    'Order of the results; relevance if absent. Calls and settlements that others counted (reported_use) go by the highest count. Unknown comes last; ties keep the order of relevance.',
  ),
  facets: optionally(
    v.array(v.picklist(SEARCH_FACETS)),
    'Count the matches by these, separated by commas; each is counted with every filter but its own.',
  ),
  view: optionally(
    v.picklist(SEARCH_VIEWS),
    'How results are written: full summaries (the default), or compact rows.',
  ),
  explain: optionally(
    v.boolean(),
    'If true, each result says which words matched where, and how its relevance is made up.',
  ),
  limit: described(whole(1, LISTINGS_ENDPOINT.maxLimit), 'How many results to send at most.'),
  offset: described(
    whole(0, MAX_OFFSET),
    'How many results to skip, for the pages after the first.',
  ),
})

export type SearchQuery = v.InferOutput<typeof SearchQuerySchema>

type FilterEntries = {
  [Name in keyof FilterValues]: v.OptionalSchema<v.GenericSchema<FilterValues[Name]>, undefined>
}

function filterEntries(): FilterEntries {
  const entries = FILTER_ROWS.map(([name, filter]) => [
    name,
    optionally(toSchema(filter), filter.text),
  ])
  // Each entry is made from the row that its type is made from.
  return Object.fromEntries(entries) as FilterEntries
}

function toSchema(filter: Filter): v.GenericSchema {
  if ('max' in filter)
    return filter.max < Number.MAX_SAFE_INTEGER
      ? v.pipe(v.number(), v.minValue(0), v.maxValue(filter.max))
      : v.pipe(v.number(), v.finite(), v.minValue(0))
  if (filter.takes === 'flag') return v.boolean()
  if (filter.takes === 'since') return v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\d$/))
  const value = typeof filter.values === 'string' ? v.string() : v.picklist(filter.values)
  return filter.takes === 'one' ? value : v.array(value)
}
