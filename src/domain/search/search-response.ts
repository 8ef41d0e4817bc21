import * as v from 'valibot'
import { AlsoSearchSchema } from '../derived/tables.ts'
import { type FoundOperation, FoundOperationSchema } from '../kit/found-operations.ts'
import { ListingSummarySchema } from '../views/listing-view.ts'
import { SellerTextsSchema } from '../wire/shapes.ts'
import { AUTH_TYPES, KINDS, RAILS, WARNINGS } from '../wire/vocabulary.ts'
import { SEARCH_FACETS } from './search-filters.ts'
import type { ParameterProblem } from './search-parameters.ts'
import { SearchQuerySchema } from './search-parameters.ts'
import { SEARCH_FIELDS } from './search-rank.ts'

const ExplanationSchema = v.object({
  /**
   * Set if the query is the listing's id, host, vendor or full name, or its name without the word
   * for its kind; such listings come first.
   */
  exact: v.optional(v.picklist(['id', 'host', 'vendor', 'name', 'product'])),
  /** The task that the query names, if the listing does it; see `ranking`. */
  task: v.optional(v.string()),
  matched: v.array(
    v.object({
      /** The query's words, and the listing's word or pair of words that they matched. */
      term: v.string(),
      as: v.string(),
      fields: v.array(v.picklist(SEARCH_FIELDS)),
      score: v.number(),
    }),
  ),
  /** The sum of the scores; `relevance` is this sum times both factors. */
  text: v.number(),
  trust_factor: v.number(),
  live_tested_factor: v.number(),
})
export type Explanation = v.InferOutput<typeof ExplanationSchema>

/** spec: an element of `results`; `explain` if requested. */
export const SearchResultSchema = v.object({
  ...ListingSummarySchema.entries,
  explain: v.optional(ExplanationSchema),
})

const FacetSchema = v.optional(
  v.array(
    v.object({
      id: v.string(),
      /** The network's name, if it has one. */
      name: v.optional(v.string()),
      count: v.pipe(v.number(), v.integer(), v.minValue(1)),
    }),
  ),
)

export const FacetsSchema = v.object(v.entriesFromList(SEARCH_FACETS, FacetSchema))
export type Facets = v.InferOutput<typeof FacetsSchema>

/** Searches with filters that the query's words suggest, each with its number of results. */
export const SuggestedSchema = v.optional(
  v.pipe(
    v.array(
      v.object({
        parameters: v.record(
          v.string(),
          v.union([v.string(), v.number(), v.boolean(), v.array(v.string())]),
        ),
        total: v.pipe(v.number(), v.integer(), v.minValue(1)),
      }),
    ),
    v.minLength(1),
  ),
)

/** The tasks that the query names, with the number of listings and the prices for each; absent if it names none. */
export const NamedTasksSchema = v.optional(
  v.pipe(
    v.array(
      v.object({
        ...{ id: v.string(), name: v.string(), page: v.string() },
        ...{ sellers: v.number(), min_usd: v.nullable(v.number()) },
      }),
    ),
    v.length(1),
  ),
)

/** GET /api/v1/operations: operations for a task, with all inputs of the first call. */
export const OperationsAnswerSchema = v.object({
  total: v.pipe(v.number(), v.integer(), v.minValue(0)),
  results: v.array(
    v.object({ ...FoundOperationSchema.entries, digest: v.string(), relevance: v.number() }),
  ),
  notes: v.array(v.string()),
  suggested: SuggestedSchema,
  texts: SellerTextsSchema,
})
export type OperationsAnswer = v.InferOutput<typeof OperationsAnswerSchema>

/** An element of `results` with `view=compact`. */
export const CompactRowSchema = v.object({
  id: v.string(),
  name: v.string(),
  kind: v.picklist(KINDS),
  summary: v.string(),
  price: v.nullable(v.object({ min_usd: v.number(), max_usd: v.number() })),
  rails: v.array(v.picklist(RAILS)),
  auth: v.picklist(AUTH_TYPES),
  trust: v.nullable(v.number()),
  /** Present next to a score: false if invented buyers would cost under a cent. */
  vouched: v.optional(v.boolean()),
  call: v.boolean(),
  /** The days of a count of payments, and then the count; absent if nothing is known. */
  paid: v.optional(v.pipe(v.string(), v.maxLength(60))),
  /** What to know before calling it, for instance that it did not answer our last probe. */
  warning: v.optional(v.picklist(WARNINGS)),
  explain: v.optional(ExplanationSchema),
})

export type CompactRow = v.InferOutput<typeof CompactRowSchema>

/** spec: GET /api/v1/search, response 200. */
export const SearchResponseSchema = v.object({
  search_id: v.pipe(v.string(), v.uuid()),
  query: SearchQuerySchema,
  total: v.pipe(v.number(), v.integer(), v.minValue(0)),
  results: v.array(SearchResultSchema),
  featured: v.array(ListingSummarySchema),
  featured_label: v.string(),
  featured_first_party: v.array(SearchResultSchema),
  /** Always empty: placements are not sold. */
  sponsored: v.pipe(v.array(v.any()), v.maxLength(0)),
  sponsored_policy: v.string(),
  also_search: v.array(AlsoSearchSchema),
  ranking: v.string(),
  payments_enabled: v.literal(false),
  notes: v.array(v.string()),
  tasks: NamedTasksSchema,
  suggested: SuggestedSchema,
  /** For each requested facet, its values with their numbers of matches, the most frequent first. */
  facets: v.optional(FacetsSchema),
  attribution: v.array(v.string()),
})

/** The search response with `view=compact`: short rows, no showcase, no texts. */
export const CompactResponseSchema = v.object({
  ...v.pick(SearchResponseSchema, ['search_id', 'query', 'total']).entries,
  results: v.array(CompactRowSchema),
  ...v.pick(SearchResponseSchema, ['sponsored', 'payments_enabled', 'notes']).entries,
  ...v.pick(SearchResponseSchema, ['tasks', 'suggested', 'facets']).entries,
})
export type CompactResponse = v.InferOutput<typeof CompactResponseSchema>

/** The compact answer as the search page gets it: with our own kits, and more members in each row. */
export interface PageResponse extends Omit<CompactResponse, 'results'> {
  /**
   * Each row has its brand's mark, its registrable domain, and the operation that matches best,
   * with its price. In the order `newest`, each row also has the day on which it was listed.
   */
  results: (CompactRow & {
    mark?: string
    domain?: string
    added?: string
    operation?: { name: string; price?: NonNullable<FoundOperation['operation']['price']> }
  })[]
  /** Absent if none of our kits matches. */
  featured_first_party?: Pick<CompactRow, 'id' | 'name' | 'kind' | 'summary'>[]
}

export type PageAnswer = PageResponse | { problems: readonly ParameterProblem[] }
