import {
  isBare,
  isSwitchedOff,
  type SiteNames,
  type Switches,
} from '../../domain/derived/tables.ts'
import { isProblemCode, PROBLEMS } from '../../domain/wire/problems.ts'
import { ROUTES, type RouteId } from '../../domain/wire/routes.ts'
import { type OperationFacts, readOperations } from './operations.ts'
import { toOfferedValues, toParameters } from './parameters.ts'
import { toComponentSchemas, toRef } from './schemas.ts'

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
    // Open to everybody unless an operation says otherwise.
    security: [],
    tags: [...new Set(Object.values(readOperations()).map(({ tag }) => tag))].map((name) => ({
      name,
    })),
    // Before the paths: the document compresses better in this order.
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
    // Any request's target may be too long.
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

/** One response for each problem, or set of problems of one status, that an operation uses. */
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
