import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { createOpenApi, readOperations } from '../../src/build/openapi/create-openapi.ts'
import { SCHEMAS, SHARED_SCHEMAS, toOpenApiSchema } from '../../src/build/openapi/schemas.ts'
import { PROBLEMS } from '../../src/domain/wire/problems.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'
import { IS_LONG } from '../support/long.ts'
import { serveFixture } from '../support/running-service.ts'

const document = createOpenApi('https://waypost.example', SITE_TEXTS)

const waypost = serveFixture()

/** One for all: it compiles the language of schemas before the first. */
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema({ $id: 'openapi', ...document })

/** A validator of one component, references and all. */
function validatorOf(name: string) {
  const validate = ajv.getSchema(`openapi#/components/schemas/${name}`)
  if (validate === undefined) throw new Error(`no component ${name}`)
  return (value: unknown) =>
    validate(value)
      ? []
      : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
}

test('the served document is the generated one, and valid OpenAPI 3.1', async () => {
  expect(await (await fetch(`${waypost.url}/openapi.json`)).json()).toEqual(
    JSON.parse(JSON.stringify(document)),
  )
  const result = await new Validator().validate(JSON.parse(JSON.stringify(document)))
  expect(result.errors ?? []).toEqual([])
  expect(result.valid).toBe(true)
})

describe('every route of the table is described, with its methods and path parameters', () => {
  test.each(Object.entries(ROUTES))('%s', (id, { path, methods }) => {
    const item = Reflect.get(Object(document.paths), path.replace(/:(\w+)/g, '{$1}'))
    for (const method of methods) {
      const operation = item[method.toLowerCase()]
      expect(operation.operationId).toMatch(new RegExp(`^${id}`))
      const inPath = operation.parameters.filter(
        (parameter: { in: string }) => parameter.in === 'path',
      )
      expect(inPath.map((parameter: { name: string }) => parameter.name)).toEqual(
        [...path.matchAll(/:(\w+)/g)].map(([, name]) => name),
      )
    }
  })

  test('and nothing else is', () => {
    const described = Object.entries(Object(document.paths)).flatMap(([path, item]) =>
      Object.keys(Object(item)).map((method) => `${method} ${path}`),
    )
    const routed = Object.values(ROUTES).flatMap(({ path, methods }) =>
      methods.map((method) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`),
    )
    expect(described.sort()).toEqual(routed.sort())
  })
})

describe('one sentence says what it is', () => {
  const SENTENCE = /^[A-Z].{20,}[a-z0-9.]\.$/
  const operations = Object.values(Object(document.paths)).flatMap((item) =>
    Object.values(Object(item)).map((operation) => Object(operation)),
  )
  const parameters = operations.flatMap(({ operationId, parameters }) =>
    parameters.map((parameter: { name: string }) => ({ operationId, ...parameter })),
  )

  test.each(operations)('of $operationId', ({ summary, description }) => {
    expect(summary).toMatch(/^[A-Z].+\.$/)
    expect(description).toMatch(SENTENCE)
    expect(description).not.toBe(summary)
  })

  test.each(parameters)('of $name of $operationId', ({ description, schema }) => {
    expect(description).toMatch(SENTENCE)
    // Said once, where readers of the document look for it.
    expect(schema).not.toHaveProperty('description')
  })

  test.each(parameters)(
    'and an example that fits, of $name of $operationId',
    ({ example, schema }) => {
      const validate = ajv.compile(schema)
      expect(example).toBeDefined()
      expect([example, validate(example)]).toEqual([example, true])
    },
  )

  test.each(Object.entries(SCHEMAS).filter(([name]) => name.endsWith('Body')))(
    'of each field of %s',
    (_name, schema) => {
      const { properties } = toOpenApiSchema(schema)
      for (const field of Object.values(Object(properties)))
        expect(Object(field).description).toMatch(SENTENCE)
    },
  )
})

describe('search parameters', () => {
  const described: {
    name: string
    schema: { enum?: string[]; type: string; maximum?: number; items?: { enum: string[] } }
  }[] = Reflect.get(Object(document.paths), '/api/v1/search').get.parameters

  test('are the specification’s, and those the contract adds', () => {
    expect(described.map(({ name }) => name).sort()).toEqual(
      [
        'auth',
        'answered_since',
        'paid_since',
        'explain',
        'facets',
        'network',
        'runs',
        'sort',
        'task',
        'view',
        'q',
        'kind',
        'category',
        'rail',
        'source',
        'max_price_usd',
        'min_trust',
        'paid_only',
        'has',
        'limit',
        'offset',
      ].sort(),
    )
  })

  test.each(described)(
    '$name takes every value it describes and refuses one it does not',
    async ({ name, schema }) => {
      const samples =
        schema.enum ??
        schema.items?.enum ??
        {
          integer: ['1'],
          number: ['1.5'],
          boolean: ['true', 'false'],
          string: name === 'q' ? ['weather'] : [],
        }[schema.type] ??
        []
      for (const sample of samples.filter((_, place) => IS_LONG || place % 5 === 0)) {
        const response = await fetch(`${waypost.url}/api/v1/search?${name}=${sample}`)
        expect([sample, response.status]).toEqual([sample, 200])
        expect((await response.json()).query).toHaveProperty(name)
      }
      if (name === 'q') return
      const refused = await fetch(`${waypost.url}/api/v1/search?${name}=nonsense`)
      expect(refused.status).toBe(400)
      expect((await refused.json()).errors).toMatchObject([{ in: 'query', name }])
    },
  )
})

describe('sampled answers fit their component', () => {
  test.each([
    ['SearchResponse', '/api/v1/search?q=weather'],
    ['SearchResponse', '/api/v1/search'],
    ['SearchResponse', '/api/v1/search?q=zzzzzz&limit=50'],
    ['Listing', '/api/v1/listings/x402.weather'],
    ['Listing', '/api/v1/listings/x402.ghost-clicks'],
    ['Listing', '/api/v1/listings/api.hostile-text'],
    ['Listing', '/api/v1/listings/kit.first-steps'],
    ['Categories', '/api/v1/categories'],
    ['Sources', '/api/v1/sources'],
    ['Stats', '/api/v1/stats'],
    ['TrustMethod', '/api/v1/trust/method'],
    ['BusinessModel', '/api/v1/business-model'],
    ['Roadmap', '/api/v1/roadmap'],
    ['MarketReports', '/api/v1/market/reports'],
    ['CompareList', '/api/v1/compare'],
    ['Compare', '/api/v1/compare/weather-and-tides'],
    ['Problem', '/api/v1/search?limit=0'],
    ['Problem', '/api/v1/listings/x402.nope'],
    ['Problem', '/api/v1/sponsored'],
  ])('%s ← %s', async (name, path) => {
    const response = await fetch(waypost.url + path)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(validatorOf(name)(await response.json())).toEqual([])
  })

  test('a component refuses what does not fit', () => {
    expect(validatorOf('Listing')({ id: 1 }).length).toBeGreaterThan(0)
    expect(validatorOf('Problem')({})).not.toEqual([])
  })
})

test('each operation lists the statuses of its problems', () => {
  for (const [id, { problems }] of Object.entries(readOperations())) {
    const route = Object.entries(ROUTES).find(([name]) => name === id)?.[1]
    const item = Reflect.get(Object(document.paths), route?.path.replace(/:(\w+)/g, '{$1}') ?? '')
    const responses = item[route?.methods[0]?.toLowerCase() ?? ''].responses
    for (const code of problems)
      expect(Object.keys(responses)).toContain(String(PROBLEMS[code].status))
  }
})

test('every component is used: a body by an operation, a shared shape by another', () => {
  const { schemas, responses } = Object(document.components)
  const paths = JSON.stringify(document.paths)
  const unused = (room: string, names: string[], where: string) =>
    names.filter((name) => !where.includes(`#/components/${room}/${name}"`))
  expect(unused('schemas', Object.keys(SCHEMAS), paths + JSON.stringify(responses))).toEqual([])
  expect(unused('schemas', Object.keys(SHARED_SCHEMAS), JSON.stringify(schemas))).toEqual([])
  expect(unused('responses', Object.keys(responses), paths)).toEqual([])
})

test('an agent reads the whole document for 335 bytes an endpoint', async () => {
  const response = await fetch(`${waypost.url}/openapi.json`, {
    headers: { 'accept-encoding': 'gzip' },
  })
  expect(response.headers.get('content-encoding')).toBe('gzip')
  const endpoints = Object.values(Object(document.paths)).flatMap((of) => Object.keys(Object(of)))
  const excess = Number(response.headers.get('content-length')) - 335 * endpoints.length
  expect(
    Math.max(excess, 0),
    'bytes too many: shorten words of operations.yaml, PATH_TEXTS or filters',
  ).toBe(0)
})
