import { FILTER_ROWS, type FilterName } from '../../domain/search/search-filters.ts'
import {
  DEFAULT_LIMIT,
  type SearchQuery,
  SearchQuerySchema,
} from '../../domain/search/search-query.ts'
import { ROUTES, type RouteId } from '../../domain/wire/route-table.ts'
import {
  CLICK_SOURCES,
  PROBE_PROTOCOLS,
  RAILS,
  SEARCH_VIEWS,
} from '../../domain/wire/vocabulary.ts'
import { toOpenApiSchema } from './schemas.ts'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  description: string
  /** Absent: not required. */
  required?: true
  schema: Record<string, unknown>
  /** A value that may be sent as it stands; an array where the wire has a comma list. */
  example: unknown
}

const TEXT = { type: 'string' }

/** Path parameters by their name in the route table. A name without words stops the build. */
const PATH_TEXTS: Readonly<Record<string, { description: string; example: string }>> = {
  listing_id: {
    description: 'Id of a listing, as the search gives it: its prefix, a dot and its name.',
    example: 'x402.exa',
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

/** What an operation takes beside its path. The search's own stand at its schema. */
const OTHERS: Partial<Record<RouteId, readonly Parameter[]>> = {
  compare_list: [
    {
      name: 'ids',
      in: 'query',
      description:
        'Two to six ids of listings to compare, separated by commas or given repeatedly.',
      schema: TEXT,
      example: 'x402.exa,x402.firecrawl-mpp',
    },
  ],
  kit: [
    {
      name: 'view',
      in: 'query',
      description: 'Compact for one operation and what its call takes; full is the whole kit.',
      schema: { ...TEXT, enum: SEARCH_VIEWS, default: 'full' },
      example: 'compact',
    },
    {
      name: 'operation',
      in: 'query',
      description:
        'Which operation, tool or skill: its name as others has it, or its place in the kit; else the one a buyer most likely wants.',
      schema: TEXT,
      example: '0',
    },
    {
      name: 'rail',
      in: 'query',
      description: 'Prefer operations sold on this rail.',
      schema: { ...TEXT, enum: RAILS },
      example: 'x402',
    },
  ],
  changes: [
    {
      name: 'since',
      in: 'query',
      description: 'The next of an earlier answer, or an ISO 8601 time; else from the oldest.',
      schema: TEXT,
      example: '2026-11-01T00:00:00Z',
    },
    {
      name: 'limit',
      in: 'query',
      description: 'How many changes to answer at most.',
      schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
      example: 100,
    },
  ],
  lint: [
    {
      name: 'url',
      in: 'query',
      description: 'The public https address of the service to look at.',
      required: true,
      schema: TEXT,
      example: 'https://api.exa.ai/search',
    },
    {
      name: 'as',
      in: 'query',
      description: 'Look for this protocol alone; without it all are tried until one speaks.',
      schema: { ...TEXT, enum: PROBE_PROTOCOLS },
      example: 'x402',
    },
  ],
  go: [
    {
      name: 'sid',
      in: 'query',
      description: 'The search_id of the search whose result was clicked.',
      schema: TEXT,
      example: '3f1c6f0e-5d0b-4c8e-9f57-1d2a7f1f6b11',
    },
    {
      name: 'pos',
      in: 'query',
      description: 'Position of the clicked result, counted from 1.',
      schema: { type: 'integer' },
      example: 1,
    },
    {
      name: 'src',
      in: 'query',
      description: 'Where the link was shown: a page, the API, an MCP client or an A2A agent.',
      schema: { ...TEXT, enum: CLICK_SOURCES },
      example: 'api',
    },
  ],
  call: [
    {
      name: 'endpoint',
      in: 'query',
      description:
        "Where on the seller's host to call, as a path or an https URL; without it the listing's own URL is called.",
      schema: TEXT,
      example: '/search?q=tides',
    },
    {
      name: 'relay_info',
      in: 'query',
      description:
        'When present, whatever its value, the answer says whether and how the relay calls this listing, and the seller is not called.',
      schema: TEXT,
      example: '1',
    },
    {
      name: 'X-PAYMENT',
      in: 'header',
      description:
        "A payment signed by the caller's own wallet in answer to a 402; passed to the seller unchanged and never logged.",
      schema: TEXT,
      example: 'eyJ4NDAyVmVyc2lvbiI6MX0=',
    },
    {
      name: 'PAYMENT-SIGNATURE',
      in: 'header',
      description:
        'The same in the header that newer payment clients send instead of X-PAYMENT; passed on unchanged too.',
      schema: TEXT,
      example: 'eyJ4NDAyVmVyc2lvbiI6Mn0=',
    },
  ],
}

const DEFAULTS: Record<string, { default: number }> = {
  limit: { default: DEFAULT_LIMIT },
  offset: { default: 0 },
}

/** The parameters of a route: those of its path first. */
export function toParameters(id: RouteId): Parameter[] {
  return [
    ...pathParameters(id),
    ...(id === 'search' ? searchParameters() : []),
    ...(id === 'operations' ? operationParameters() : []),
    ...(OTHERS[id] ?? []),
  ]
}

function pathParameters(id: RouteId): Parameter[] {
  return [...ROUTES[id].path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    ...describePath(name),
    required: true,
    schema: TEXT,
  }))
}

function describePath(name: string) {
  const described = PATH_TEXTS[name]
  if (described === undefined)
    throw new Error(`OpenAPI: path parameter ${name} has no description; expected one sentence`)
  return described
}

/** The query's own schema: what validates is what is published. Lists are comma lists on the wire. */
function searchParameters(): Parameter[] {
  const { properties } = toOpenApiSchema(SearchQuerySchema)
  return Object.entries(properties ?? {}).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description: describedBy(description, `search parameter ${name}`),
    schema: { ...schema, ...DEFAULTS[name] },
    ...(schema.type === 'array' && { style: 'form', explode: false }),
    example: Reflect.get(SEARCH_EXAMPLES, name),
  }))
}

/** A search of operations takes the filters and a page of its own size. */
function operationParameters(): Parameter[] {
  const left = new Set(['sort', 'facets', 'view', 'explain'])
  const limit = { type: 'integer', minimum: 1, maximum: 20, default: 5 }
  return searchParameters()
    .filter(({ name }) => !left.has(name))
    .map((parameter) => (parameter.name === 'limit' ? { ...parameter, schema: limit } : parameter))
}

function describedBy(text: unknown, what: string): string {
  if (typeof text === 'string') return text
  throw new Error(`OpenAPI: ${what} has no description; expected one sentence`)
}
