import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { parse } from 'yaml'
import {
  isBare,
  isSwitchedOff,
  type SiteNames,
  type Switches,
} from '../../domain/derived/tables.ts'
import { FILTER_ROWS, type FilterName, isOffered } from '../../domain/search/search-filters.ts'
import {
  LISTINGS_ENDPOINT,
  OPERATIONS_ENDPOINT,
  type SearchQuery,
  SearchQuerySchema,
} from '../../domain/search/search-parameters.ts'
import { isProblemCode, PROBLEM_CODES, PROBLEMS } from '../../domain/wire/problems.ts'
import { DOCS_GROUPS, ROUTES, type RouteId } from '../../domain/wire/routes.ts'
import {
  CLICK_SOURCES,
  PROBE_PROTOCOLS,
  RAILS,
  SEARCH_VIEWS,
} from '../../domain/wire/vocabulary.ts'
import { SCHEMAS, toComponentSchemas, toOpenApiSchema } from './schemas.ts'

/** Version of the interface (spec: Versioning). */
const INTERFACE_VERSION = '0.1.0'

/**
 * The OpenAPI 3.1 document, from the route table and the schemas that validate. Nothing in it is
 * written twice: a route that is missing here does not exist.
 */
export function createOpenApi(
  baseUrl: string,
  site: Pick<SiteNames, 'name' | 'strapline' | 'reading'> & { switches?: Switches },
): Record<string, unknown> {
  const paths = Object.fromEntries(
    Object.entries(toPaths(site.switches)).filter(([path]) => !isSwitchedOff(path, site.switches)),
  )
  return {
    openapi: '3.1.0',
    info: {
      title: site.name,
      version: INTERFACE_VERSION,
      summary: `${site.strapline}.`,
      description:
        site.switches?.trust === false
          ? site.reading
          : `${site.reading} Trust comes only from payments verified on-chain; nothing in the order of results can be bought.`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    // Open to everybody unless an operation requires more.
    security: [],
    tags: [...new Set(Object.values(readOperations()).map(({ tag }) => tag))].map((name) => ({
      name,
    })),
    // Components come before the paths, because the document compresses better in this order.
    components: {
      schemas: toUsedSchemas(paths, site.switches),
      responses: toProblemResponses(paths),
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: '__Host-session' } },
    },
    paths,
  }
}

function toPaths(switches?: Switches): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [id, whole] of Object.entries(readOperations())) {
    if (!isRouteId(id)) continue
    const facts = isBare(switches) ? { ...whole, ...whole.bare } : whole
    const { methods, path } = ROUTES[id]
    const template = path.replace(/:(\w+)/g, '{$1}')
    const item = paths[template] ?? {}
    for (const method of methods)
      item[method.toLowerCase()] = toOperation(
        id,
        facts,
        methods.length > 1 ? method : null,
        switches,
      )
    paths[template] = item
  }
  return paths
}

function toOperation(
  id: RouteId,
  facts: OperationFacts,
  method: string | null,
  switches?: Switches,
) {
  const { body } = facts
  return {
    operationId: method === null ? id : `${id}_${method.toLowerCase()}`,
    summary: facts.summary,
    description: facts.description,
    tags: [facts.tag],
    parameters: toParameters(id, switches),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: toRef(body.schema), example: body.example } },
      },
    }),
    ...(facts.for_sellers && { security: [{ session: [] }] }),
    responses: toResponses(id, facts),
  }
}

function toResponses(id: RouteId, facts: OperationFacts): Record<string, unknown> {
  const responses: Record<string, unknown> = {}
  if (facts.tag !== 'Roadmap stubs') Object.assign(responses, toSuccess(facts))
  const needsStore = 'needs' in ROUTES[id]
  const codes = new Set([
    ...facts.problems,
    ...(needsStore ? (['store-unavailable'] as const) : []),
    // Any request's address may be too long.
    'uri-too-long' as const,
  ])
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status)
  for (const [status, codes] of byStatus)
    responses[status] ??= { $ref: `#/components/responses/${codes.join('_or_')}` }
  return responses
}

/** The schemas in use: a directory without sellers has no claims either. */
function toUsedSchemas(paths: object, switches?: Switches): Record<string, object> {
  const all = toComponentSchemas()
  const used = new Set(['Problem'])
  const read = (part: object) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      const schema = all[name]
      if (schema === undefined || used.has(name)) continue
      used.add(name)
      read(schema)
    }
  }
  read(paths)
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, schema]) => {
      if (!used.has(name)) return []
      return [[name, name.endsWith('Body') ? toOfferedValues(schema, switches) : schema]]
    }),
  )
}

/** A response for each problem that an operation may return, or for several with the same status. */
function toProblemResponses(paths: Record<string, Record<string, unknown>>) {
  const named = JSON.stringify(paths).matchAll(/#\/components\/responses\/([\w-]+)/g)
  const content = { 'application/problem+json': { schema: toRef('Problem') } }
  return Object.fromEntries(
    [...named].map(([, name = '']) => {
      const titles = name
        .split('_or_')
        .filter(isProblemCode)
        .map((code) => PROBLEMS[code].title)
      return [name, { description: titles.join(', or: '), content }]
    }),
  )
}

function toSuccess({ answers, answer, other_answer, media = '' }: OperationFacts) {
  const bodies = [answer ?? [], other_answer ?? []].flat().map(toRef)
  const json = bodies.length > 1 ? { anyOf: bodies } : bodies[0]
  const content = json
    ? { 'application/json': { schema: json } }
    : { [media]: { schema: { type: 'string' } } }
  const location = { Location: { schema: { type: 'string' } } }
  return Object.fromEntries(
    Object.entries(answers).map(([status, description]) => [
      status,
      {
        description,
        ...(status === '302' && { headers: location }),
        ...((answer ?? media) !== '' && { content }),
      },
    ]),
  )
}

function isRouteId(id: string): id is RouteId {
  return Object.hasOwn(ROUTES, id)
}

const LISTS = {
  protocols: PROBE_PROTOCOLS,
  click_sources: CLICK_SOURCES,
  views: SEARCH_VIEWS,
  rails: RAILS,
}

/** Problems that every operation with a body may return. */
const OF_BODIES = [
  'invalid-body',
  'invalid-parameter',
  'cross-site',
  'unsupported-media-type',
  'payload-too-large',
  'rate-limited',
] as const

const ParameterSchema = v.strictObject({
  name: v.string(),
  in: v.optional(v.picklist(['query', 'header']), 'query'),
  description: v.string(),
  required: v.exactOptional(v.literal(true)),
  schema: v.optional(
    v.looseObject({
      type: v.string(),
      enum: v.exactOptional(v.picklist(['protocols', 'click_sources', 'views', 'rails'])),
    }),
    { type: 'string' },
  ),
  /** A value that can be sent as it is. */
  example: v.unknown(),
})

const name = v.custom<SchemaName>(isSchemaName, 'expected the name of a schema')

/** A row in `operations.yaml`. */
const OperationSchema = v.pipe(
  v.strictObject({
    tag: v.picklist(DOCS_GROUPS.flatMap(({ tag }) => tag ?? [])),
    summary: v.string(),
    /** One sentence on what the summary leaves out. */
    description: v.string(),
    /** Replaces summary and description in a directory without sellers, payments or trust. */
    bare: v.optional(
      v.strictObject({
        summary: v.exactOptional(v.string()),
        description: v.exactOptional(v.string()),
        answers: v.exactOptional(v.record(v.string(), v.string())),
      }),
      {},
    ),
    /** Schema for the response body; absent if the body is the seller's or empty. */
    answer: v.optional(name),
    /** The schema for the response that a request gets instead if it sets a parameter. */
    other_answer: v.optional(name),
    /** What a response means, by status. */
    answers: v.optional(v.record(v.string(), v.string()), { 200: 'OK' }),
    /** Type of the response body if it is not JSON. */
    media: v.optional(v.string()),
    body: v.optional(v.strictObject({ schema: name, example: v.record(v.string(), v.unknown()) })),
    /** Whether the operation takes a session cookie. */
    for_sellers: v.optional(v.boolean(), false),
    writes: v.optional(v.boolean(), false),
    problems: v.optional(v.array(v.picklist(PROBLEM_CODES)), []),
    parameters: v.optional(v.array(ParameterSchema), []),
  }),
  v.transform(({ writes, problems, parameters, ...operation }) => ({
    ...operation,
    problems: [...(writes ? OF_BODIES : []), ...problems],
    parameters: parameters.map(({ schema, example, ...parameter }) => ({
      ...parameter,
      schema: { ...schema, ...(schema.enum !== undefined && { enum: LISTS[schema.enum] }) },
      example,
    })),
  })),
)
type OperationFacts = v.InferOutput<typeof OperationSchema>

let known: Record<string, OperationFacts> | undefined

/**
 * The rows by route name, in document order. They are parsed on first use: a build that finds its
 * release up to date needs none.
 * @throws Error that names the row and what would be right
 */
export function readOperations(): Record<string, OperationFacts> {
  known ??= parseOperations()
  return known
}

function parseOperations(): Record<string, OperationFacts> {
  const text = readFileSync(new URL('./operations.yaml', import.meta.url), 'utf8')
  const rows = v.record(v.picklist(Object.keys(ROUTES)), OperationSchema)
  const result = v.safeParse(rows, parse(text))
  if (result.success) return result.output
  const [issue] = result.issues
  throw new Error(`operations.yaml ${v.getDotPath(issue) ?? ''}: ${issue.message}`)
}

/** A parameter whose example can be sent as it is; the example is an array for a comma-separated list. */
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

/** A route's parameters, path parameters first, without those for parts that are switched off. */
function toParameters(id: RouteId, switches?: Switches): Parameter[] {
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
function toOfferedValues(schema: object, switches?: Switches) {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    OFFERED_MEMBERS.has(key) && Array.isArray(value)
      ? value.filter((word: unknown) => typeof word !== 'string' || isOffered(word, switches))
      : value,
  )
}
const OFFERED_MEMBERS = new Set(['enum', 'default'])

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

/** The search parameters, from the schema that validates queries. Lists are comma-separated on the wire. */
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

/** An operation search takes the same filters, and has its own page size. */
function operationParameters(): Parameter[] {
  const { defaultLimit, maxLimit } = OPERATIONS_ENDPOINT
  const limit = { type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit }
  return searchParameters(OPERATIONS_ENDPOINT).map((parameter) =>
    parameter.name === 'limit' ? { ...parameter, schema: limit } : parameter,
  )
}

type SchemaName = keyof typeof SCHEMAS

function isSchemaName(name: unknown): name is SchemaName {
  return typeof name === 'string' && Object.hasOwn(SCHEMAS, name)
}

function toRef(name: SchemaName) {
  return { $ref: `#/components/schemas/${name}` }
}
