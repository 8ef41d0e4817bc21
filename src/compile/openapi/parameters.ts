import { DEFAULT_LIMIT, SearchQuerySchema } from '../../domain/search/search-query.ts'
import { ROUTES, type RouteId } from '../../domain/wire/route-table.ts'
import { CLICK_SOURCES } from '../../domain/wire/vocabulary.ts'
import { toOpenApiSchema } from './schemas.ts'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  description: string
  required: boolean
  schema: Record<string, unknown>
}

const TEXT = { type: 'string' }

/** What stands in a path, by the name the route table gives it; a name without words stops the build. */
const PATH_TEXTS: Readonly<Record<string, string>> = {
  listing_id: 'Id of a listing, such as x402.example-weather.',
  claim_id: 'Id of one of your claims, as given when it was started.',
  slug: 'Last part of the address of a comparison page, as listed at /api/v1/compare.',
}

/** What an operation takes beside its path. The search's own stand at its schema. */
const OTHERS: Partial<Record<RouteId, readonly Omit<Parameter, 'required'>[]>> = {
  compare_list: [
    {
      name: 'ids',
      in: 'query',
      description:
        'Two to six ids of listings to compare, separated by commas or given repeatedly.',
      schema: TEXT,
    },
  ],
  changes: [
    {
      name: 'since',
      in: 'query',
      description:
        'The next of an earlier answer, or an ISO 8601 time; without it the answer begins with the oldest row of the log.',
      schema: TEXT,
    },
    {
      name: 'limit',
      in: 'query',
      description: 'How many changes to answer at most; there may be more when has_more says so.',
      schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
    },
  ],
  go: [
    {
      name: 'sid',
      in: 'query',
      description: 'The search_id of the search whose result was clicked.',
      schema: TEXT,
    },
    {
      name: 'pos',
      in: 'query',
      description: 'Position of the clicked result, counted from 1.',
      schema: { type: 'integer' },
    },
    {
      name: 'src',
      in: 'query',
      description: 'Where the link was shown: a page, the API, an MCP client or an A2A agent.',
      schema: { ...TEXT, enum: CLICK_SOURCES },
    },
  ],
  call: [
    {
      name: 'endpoint',
      in: 'query',
      description:
        "Where on the seller's host to call, as a path or an https URL; without it the listing's own URL is called.",
      schema: TEXT,
    },
    {
      name: 'relay_info',
      in: 'query',
      description:
        'When present, whatever its value, the answer says whether and how the relay calls this listing, and the seller is not called.',
      schema: TEXT,
    },
    {
      name: 'X-PAYMENT',
      in: 'header',
      description:
        "A payment signed by the caller's own wallet in answer to a 402; passed to the seller unchanged and never logged.",
      schema: TEXT,
    },
    {
      name: 'PAYMENT-SIGNATURE',
      in: 'header',
      description:
        'The same in the header that newer payment clients send instead of X-PAYMENT; passed on unchanged too.',
      schema: TEXT,
    },
  ],
}

const DEFAULTS: Record<string, { default: number }> = {
  limit: { default: DEFAULT_LIMIT },
  offset: { default: 0 },
}

/** The parameters of a route: those of its path first. */
export function toParameters(id: RouteId): Parameter[] {
  const others = (OTHERS[id] ?? []).map((other) => ({ ...other, required: false }))
  return [...pathParameters(id), ...(id === 'search' ? searchParameters() : []), ...others]
}

function pathParameters(id: RouteId): Parameter[] {
  return [...ROUTES[id].path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    description: describedBy(PATH_TEXTS[name], `path parameter ${name}`),
    required: true,
    schema: TEXT,
  }))
}

/** The query's own schema: what validates is what is published. Lists are comma lists on the wire. */
function searchParameters(): Parameter[] {
  const { properties } = toOpenApiSchema(SearchQuerySchema)
  return Object.entries(properties ?? {}).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description: describedBy(description, `search parameter ${name}`),
    required: false,
    schema: { ...schema, ...DEFAULTS[name] },
    ...(schema.type === 'array' && { style: 'form', explode: false }),
  }))
}

function describedBy(text: unknown, what: string): string {
  if (typeof text === 'string') return text
  throw new Error(`OpenAPI: ${what} has no description; expected one sentence`)
}
