import * as v from 'valibot'
import { createOperationSchema, type Operation, placeholdersOf } from '../listing/operation.ts'
import { findOperationFaults } from '../operation/operation-faults.ts'
import { isJsonObject, present } from '../wire/parse-json.ts'
import { HTTP_METHODS } from '../wire/vocabulary.ts'
import { readOpenApiResponse } from './openapi-response.ts'

/** Limits of a listing's evidence; a longer description is cut and marked as such. */
const MAX_OPERATIONS = 100
const MAX_PARAMS = 30
const MAX_TEXT = 300

export type DescribedApi = NonNullable<ReturnType<typeof readOpenApi>>

const schema = createOperationSchema({ allowPrivate: false })
const ExampleSchema = v.union([v.string(), v.number(), v.boolean()])

/**
 * OpenAPI 3.x on the seller's own origin, references of inputs unresolved; null for any other document.
 *
 * @param address where the document was read
 */
export function readOpenApi(document: unknown, address: string) {
  const { origin } = new URL(address)
  if (!isJsonObject(document) || typeof document.openapi !== 'string') return null
  if (!isJsonObject(document.paths)) return null
  const base = findBase(document, origin)
  const found = Object.entries(document.paths).flatMap(([path, item]) =>
    base === null || !isJsonObject(item) ? [] : readPath(base + path, item, { document, address }),
  )
  const operations = found.filter(
    (each) => v.is(schema, each) && findOperationFaults({ http: [each] }).length === 0,
  )
  const info = isJsonObject(document.info) ? document.info : {}
  return {
    title: textOf(info.title),
    description: textOf(info.description),
    operations: operations.slice(0, MAX_OPERATIONS),
    truncated: operations.length > MAX_OPERATIONS,
  }
}

/** The first server on the seller's own origin; the origin itself where none is named. */
function findBase({ servers }: Record<string, unknown>, origin: string): string | null {
  const list = Array.isArray(servers) ? servers.filter(isJsonObject) : []
  if (list.length === 0) return origin
  for (const { url } of list) {
    const base = typeof url === 'string' ? URL.parse(url, origin) : null
    if (base?.origin === origin) return base.href.replace(/\/+$/, '')
  }
  return null
}

function readPath(url: string, item: Record<string, unknown>, source: Source): Operation[] {
  const shared = listOf(item.parameters)
  return HTTP_METHODS.flatMap((method) => {
    const operation = item[method.toLowerCase()]
    if (!isJsonObject(operation)) return []
    const params = [...shared, ...listOf(operation.parameters)].flatMap(readParam)
    const description = textOf(operation.summary) ?? textOf(operation.description) ?? undefined
    const body = method === 'GET' ? undefined : readBody(operation.requestBody)
    const price = readPrice(operation['x-payment-info'])
    const places = withPlaces(url, params)
    const response = readOpenApiResponse(operation, source.document, source.address)
    const shapes = { ...places, ...present({ body, response }) }
    return [{ method, url, ...present({ description }), ...price, ...shapes }]
  })
}

interface Source {
  document: unknown
  address: string
}

type Params = NonNullable<Operation['params']>

function readParam(value: unknown): Params {
  if (!isJsonObject(value)) return []
  const { name, in: place } = value
  if (typeof name !== 'string' || (place !== 'query' && place !== 'path' && place !== 'header'))
    return []
  const description = textOf(value.description)
  const own = isJsonObject(value.schema) ? value.schema : {}
  const example = value.example ?? own.example
  return [
    {
      name,
      in: place,
      ...((value.required === true || place === 'path') && { required: true }),
      ...(description !== null && { description }),
      ...(typeof own.type === 'string' && { schema: { type: own.type } }),
      ...(v.is(ExampleSchema, example) && { example }),
    },
  ]
}

/** A path parameter that the document forgot to declare is still one. */
function withPlaces(url: string, params: Params): Pick<Operation, 'params'> {
  const byKey = new Map(params.map((param) => [`${param.in} ${param.name}`, param]))
  for (const name of placeholdersOf(url))
    if (!byKey.has(`path ${name}`)) byKey.set(`path ${name}`, { name, in: 'path', required: true })
  const all = [...byKey.values()].slice(0, MAX_PARAMS)
  return all.length === 0 ? {} : { params: all }
}

function readBody(value: unknown): Operation['body'] {
  const content = isJsonObject(value) && isJsonObject(value.content) ? value.content : {}
  const media = content['application/json']
  if (!isJsonObject(media)) return undefined
  const { schema: shape, example } = media
  const isPlain = isJsonObject(shape) && !JSON.stringify(shape).includes('"$ref"')
  return {
    content_type: 'application/json',
    ...(isPlain && { schema: shape }),
    ...(isJsonObject(example) && { example }),
  }
}

/** Dollars in the x402 dialect: fixed, or bounds. */
function readPrice(info: unknown): Pick<Operation, 'price'> {
  const price = isJsonObject(info) && isJsonObject(info.price) ? info.price : {}
  if (price.currency !== undefined && price.currency !== 'USD') return {}
  const min = Number(price.amount ?? price.min)
  const max = Number(price.amount ?? price.max)
  const isPrice = [min, max].every((each) => Number.isFinite(each) && each >= 0) && min <= max
  return isPrice && max <= 1000 ? { price: { min_usd: min, max_usd: max, per: 'call' } } : {}
}

function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const line = value.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+|\s+/gu, ' ').trim()
  return line === '' ? null : [...line].slice(0, MAX_TEXT).join('').trim()
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
