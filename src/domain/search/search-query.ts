import * as v from 'valibot'
import {
  AUTH_TYPES,
  DISCOVERY_FILES,
  KINDS,
  RAILS,
  RUNS,
  SEARCH_FACETS,
  SEARCH_SORTS,
  SEARCH_VIEWS,
} from '../wire/vocabulary.ts'

/** Characters of `q` a caller may send; the same number is the most the engine looks at. */
export const MAX_QUERY_CHARACTERS = 512
export const DEFAULT_LIMIT = 20
export const MAX_LIMIT = 50
export const MAX_TRUST = 100

/**
 * The parameters of a search, parsed. On the wire this object is the `query` echo. The OpenAPI
 * document takes its words from the descriptions.
 */
export const SearchQuerySchema = v.object({
  q: described(
    v.string(),
    `A task or keywords, at most ${MAX_QUERY_CHARACTERS} characters; any of the words may match, and the best matches come first.`,
  ),
  kind: described(v.picklist(KINDS), 'Only listings of this kind.'),
  category: described(
    v.string(),
    'Only listings in this category; /api/v1/categories has the identifiers.',
  ),
  rail: described(v.picklist(RAILS), 'Only listings that take payment on this rail.'),
  source: described(
    v.string(),
    'Only listings known from this source; /api/v1/sources has the identifiers.',
  ),
  max_price_usd: described(
    v.pipe(v.number(), v.finite(), v.minValue(0)),
    'Only listings whose lowest price is at most this many US dollars; those without a known price are left out.',
  ),
  min_trust: described(
    v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_TRUST)),
    `Only listings whose trust score, from 0 to ${MAX_TRUST}, is at least this; those without a score are left out.`,
  ),
  paid_only: described(v.boolean(), 'If true, only listings that name a payment rail.'),
  has: described(
    v.array(v.picklist(DISCOVERY_FILES)),
    'Only listings whose seller publishes all of these discovery files, separated by commas.',
  ),
  auth: described(
    v.picklist(AUTH_TYPES),
    'Only listings whose callers prove themselves this way; unknown where the listing does not say.',
  ),
  runs: described(
    v.picklist(RUNS),
    'Only listings that run remote, at the seller, or that come as a package to run in a local process.',
  ),
  sort: described(
    v.picklist(SEARCH_SORTS),
    'Order of the results; relevance if absent. Unknown prices and dates come last, and ties keep the order of relevance.',
  ),
  facets: described(
    v.array(v.picklist(SEARCH_FACETS)),
    'Count the matches by these, separated by commas; each is counted with every filter but its own.',
  ),
  view: described(
    v.picklist(SEARCH_VIEWS),
    'How results are written: full summaries (the default), or compact rows.',
  ),
  explain: described(
    v.boolean(),
    'If true, each result says which words matched where, and how its relevance is made up.',
  ),
  limit: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(MAX_LIMIT),
    v.description('How many results to send at most.'),
  ),
  offset: v.pipe(
    v.number(),
    v.safeInteger(),
    v.minValue(0),
    v.description('How many results to skip, for the pages after the first.'),
  ),
})

export type SearchQuery = v.InferOutput<typeof SearchQuerySchema>

function described<const Schema extends v.GenericSchema>(schema: Schema, text: string) {
  return v.optional(v.pipe(schema, v.description(text)))
}
