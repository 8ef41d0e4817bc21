import type { Switches } from '../../domain/derived/tables.ts'
import { FILTER_ROWS, type FilterName, isOffered } from '../../domain/search/search-filters.ts'
import {
  LISTINGS_ENDPOINT,
  OPERATIONS_ENDPOINT,
  type SearchQuery,
  SearchQuerySchema,
} from '../../domain/search/search-parameters.ts'
import { ROUTES, type RouteId } from '../../domain/wire/routes.ts'
import { type OperationFacts, readOperations } from './operations.ts'
import { toOpenApiSchema } from './schemas.ts'

/** Its example can be sent as it is; it is an array where the wire has a comma list. */
type Parameter = Omit<OperationFacts['parameters'][number], 'in' | 'schema'> & {
  in: 'path' | 'query' | 'header'
  schema: Record<string, unknown>
}

const TEXT = { type: 'string' }

/** Path parameters by name in the route table. A name without a description stops the build. */
const PATH_TEXTS: Readonly<Record<string, { description: string; example: string }>> = {
  receipt_id: {
    description: 'Id of a receipt: the end of the address in the Call-Receipt header.',
    example: 'AAECAwQFBgcICQoLDA0ODw',
  },
  day: {
    description: 'A day, UTC, that /api/v1/receipts/days.json lists.',
    example: '2026-11-20',
  },
  listing_id: {
    description: 'Id of a listing, as the search gives it: its prefix, a dot and its name.',
    example: 'x402.exa',
  },
  task_id: {
    description: 'Id of a task, as /api/v1/tasks lists it.',
    example: 'web_search',
  },
  claim_id: {
    description: 'Id of one of your claims, as given when it was started.',
    example: '7b0a3e0c-7c1e-4e43-9a53-0f1c9a6c9d10',
  },
  slug: {
    description: 'Last part of the address of a comparison page, as listed at /api/v1/compare.',
    example: 'paid-web-search',
  },
}

const SEARCH_EXAMPLES: Record<Exclude<keyof SearchQuery, FilterName>, unknown> = {
  q: 'web search',
  ...Object.fromEntries(FILTER_ROWS.map(([name, { example }]) => [name, example])),
  sort: 'price',
  facets: ['kind', 'price'],
  view: 'compact',
  explain: true,
  limit: 5,
  offset: 20,
}

const DEFAULTS: Record<string, { default: number }> = {
  limit: { default: LISTINGS_ENDPOINT.defaultLimit },
  offset: { default: 0 },
}

/** The parameters of a route in a directory that may be without some parts: those of its path first. */
export function toParameters(id: RouteId, switches?: Switches): Parameter[] {
  return [
    ...pathParameters(id),
    ...(id === 'search' ? searchParameters() : []),
    ...(id === 'operations' ? operationParameters() : []),
    ...(readOperations()[id]?.parameters ?? []),
  ]
    .filter(({ name }) => isOffered(name, switches))
    .map((parameter) => ({ ...parameter, schema: toOfferedValues(parameter.schema, switches) }))
}

/** Closed lists and their defaults, without the values for parts that are switched off. */
export function toOfferedValues(schema: object, switches?: Switches) {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    LISTS.has(key) && Array.isArray(value)
      ? value.filter((word: unknown) => typeof word !== 'string' || isOffered(word, switches))
      : value,
  )
}
const LISTS = new Set(['enum', 'default'])

function pathParameters(id: RouteId): Parameter[] {
  return [...ROUTES[id].path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    ...described(PATH_TEXTS[name], `path parameter ${name}`),
    required: true,
    schema: TEXT,
  }))
}

function described<Words>(words: Words | undefined, what: string): Words {
  if (words !== undefined) return words
  throw new Error(`OpenAPI: ${what} has no description; expected one sentence`)
}

/** The query's own schema: what validates is what is published. Lists are comma lists on the wire. */
function searchParameters({ without } = LISTINGS_ENDPOINT): Parameter[] {
  const { properties } = toOpenApiSchema(SearchQuerySchema)
  const taken = Object.entries(properties ?? {}).filter(([name]) => !without.includes(name))
  return taken.map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description: described(description, `search parameter ${name}`),
    schema: { ...schema, ...DEFAULTS[name] },
    ...(schema.type === 'array' && { style: 'form', explode: false }),
    example: Reflect.get(SEARCH_EXAMPLES, name),
  }))
}

/** A search of operations takes the filters and a page of its own size. */
function operationParameters(): Parameter[] {
  const { defaultLimit, maxLimit } = OPERATIONS_ENDPOINT
  const limit = { type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit }
  return searchParameters(OPERATIONS_ENDPOINT).map((parameter) =>
    parameter.name === 'limit' ? { ...parameter, schema: limit } : parameter,
  )
}
