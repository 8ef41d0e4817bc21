import * as v from 'valibot'
import { findValueFault, isWithin } from '../listing/json-schema.ts'
import { type Operation, type Param, ParamSchema, PayloadSchema } from '../listing/listing-facts.ts'
import { eachOnce, isJsonObject, listOf, memberOf, objectOf, present } from '../wire/json.ts'
import { firstValid } from '../wire/shapes.ts'
import { toOperationKey } from '../wire/text.ts'
import { HTTP_METHODS, type HttpMethod } from '../wire/vocabulary.ts'
import {
  type Described,
  type DescribedApi,
  firstSound,
  lineOf,
  payeesOf,
  readPaymentInfo,
  type StatedPayment,
  toDescribedApi,
} from './payment-info.ts'

const MAX_ENTRIES = 500
const MAX_PARAMS = 30

/** Members in which manifests keep their entries, as a list or by `METHOD /path`; the best first. */
const LISTS = `resources endpoints items services routes paths apis capability_catalog`.split(' ')
const LIST_NAME = /^(?!.*free)\w*(?:resources|endpoints|items|services|routes|apis)$/i

/**
 * Reads `/.well-known/x402` and `/.well-known/x402.json`, versions 1 and 2: paid operations on the
 * seller's own origin with prices, networks, payees and shapes; null for any other document. The
 * document's own payment terms apply to each entry that has none.
 * @param address where the document was read
 */
export function readX402Manifest(document: unknown, address: string): DescribedApi | null {
  if (!isJsonObject(document)) return null
  const entries = entriesOf(document)
  const shared = sharedPayment(document)
  const isManifest = 'x402Version' in document || entries.length > 0 || shared.payTo !== undefined
  if (!isManifest) return null
  const base = baseOf(document, address)
  const { origin } = new URL(address)
  const read = entries
    .slice(0, MAX_ENTRIES)
    .flatMap((entry) => readPaidEntry(entry, { base, ref: address, shared }) ?? [])
    .filter(({ operation }) => URL.parse(operation.url)?.origin === origin)
  const once = eachOnce(read, ({ operation }) => toOperationKey(operation))
  const payments = [readPayment({}, shared), ...read.map(({ payment }) => payment)]
  const about = [document, document.service, document.publisher].filter(isJsonObject)
  const first = (name: string) => about.flatMap((each) => lineOf(each[name]) ?? []).at(0) ?? null
  const titled = { title: first('name') ?? first('serviceName'), description: first('description') }
  const api = toDescribedApi(titled, once, payments)
  return { ...api, truncated: api.truncated || entries.length > MAX_ENTRIES }
}

const FREE: StatedPayment = { payees: [] }

function entriesOf(document: Record<string, unknown>): unknown[] {
  const others = Object.keys(document).filter((name) => LIST_NAME.test(name))
  for (const name of [...LISTS, ...others]) {
    const list = document[name]
    if (Array.isArray(list)) return list
    if (isJsonObject(list))
      return Object.entries(list).map(([resource, entry]) => ({
        resource,
        ...(isJsonObject(entry) ? entry : { price: entry }),
      }))
  }
  return [document.accepts ?? []]
    .flat()
    .filter((way) => typeof memberOf(way, 'resource') === 'string')
}

/** The payment terms that the document states once for all entries. */
function sharedPayment(document: Record<string, unknown>): Record<string, unknown> {
  const { payment, payments, provider } = document
  const own = [memberOf(payment, 'x402'), payment, payments, provider].find(isJsonObject) ?? {}
  const { accepts, network, asset, price, address: _, ...rest } = document
  const ways = [accepts ?? own.accepts ?? own.rails ?? []].flat()
  const networks = rest.networks ?? rest.supported_networks
  return {
    ...present({ network: own.network, asset: own.asset, price: own.price ?? own.price_per_call }),
    ...present({ payTo: payeesOf(rest) ?? payeesOf(own), network, networks, asset, price }),
    ...(ways.length > 0 && { accepts: ways }),
  }
}

/** Names for the member with an entry's own payment, the most exact first. */
const PAYMENTS = ['x-payment-info', 'payment', 'pricing']

/** An entry's own terms come first. Ways to pay that the document states once get the entry's own price. */
function readPayment(
  entry: Record<string, unknown>,
  { accepts: sharedWays = [], ...shared }: Record<string, unknown>,
): StatedPayment {
  const inner = PAYMENTS.map((name) => entry[name]).find(isJsonObject) ?? {}
  const { method: _, ...own } = entry
  const { method: _method, ...payment } = inner
  const whole = { protocols: ['x402'], ...shared, ...own, ...payment }
  const stated = readPaymentInfo(whole)
  const ways = [sharedWays].flat().filter(isJsonObject)
  if ('accepts' in whole || ways.length === 0) return stated
  const unpriced = ways.map(({ amount: _amount, maxAmountRequired: _units, ...way }) => way)
  return readPaymentInfo({ ...whole, accepts: stated.price === undefined ? ways : unpriced })
}

function baseOf(document: Record<string, unknown>, address: string): string {
  const named = ['serviceBaseUrl', 'baseUrl', 'base_url', 'baseURL', 'origin', 'url']
    .map((name) => document[name])
    .find((each) => typeof each === 'string' && /^https?:\/\//i.test(each))
  return typeof named === 'string' ? `${named.replace(/\/+$/, '')}/` : new URL('/', address).href
}

/** Where an entry was found. */
interface Place {
  base: string
  /** The document's address. */
  ref: string
  /** The document's payment terms for all of its entries. */
  shared?: Record<string, unknown>
}

/**
 * One paid operation, as described by a manifest, a Bazaar row or a catalogue's endpoint: an
 * address alone, or with its method, payment and shapes. Null if it names no address to call.
 */
export function readPaidEntry(entry: unknown, { base, ref, shared = {} }: Place): Described | null {
  const named = readEntry(entry, base)
  if (named === null) return null
  const payment = named.body.paid === false ? FREE : readPayment(named.body, shared)
  const operation = toOperation({ ...named, payment, ref })
  return operation && { operation, payment }
}

interface Entry {
  /** Null if the manifest names no method. */
  method: HttpMethod | null
  /** The address, with `{name}` for each path parameter. */
  url: string
  place: string[]
  body: Record<string, unknown>
  input: ReturnType<typeof readX402Input>
}

/** An entry: an address by itself, or an object that names one in any of the usual members. */
function readEntry(value: unknown, base: string): Entry | null {
  const body = objectOf(value)
  const resource = isJsonObject(body.resource) ? body.resource.url : body.resource
  const named = [value, body.url, resource, body.endpoint, body.path, body.route].find(
    (each) => typeof each === 'string' && each !== '',
  )
  if (typeof named !== 'string') return null
  const [, verb, text = ''] = /^(?:([A-Za-z]{3,7})\s+)?(\S+)$/.exec(named.trim()) ?? []
  const isPath = /^\/(?!.*:\/\/)/.test(text)
  if (!isPath && !/^https?:\/\//i.test(text)) return null
  const { path, names } = toTemplate(isPath ? base.replace(/\/$/, '') + text : text)
  const input = readX402Input({ ...body, accepts: [body.accepts ?? []].flat() })
  const stated = verb ?? body.method ?? [body.httpMethods].flat()[0] ?? input.method
  const name = String(stated ?? '').toUpperCase()
  const method = HTTP_METHODS.find((known) => known === name) ?? null
  return { method, url: path, place: names, body, input }
}

/**
 * An address with placeholders in any style: `:id`, `[id]` and `*` become `{id}`, each name once.
 * @example toTemplate('https://a.example/x/:id') → { path: 'https://a.example/x/{id}', names: ['id'] }
 */
export function toTemplate(text: string): { path: string; names: string[] } {
  const [, start = '', path = '', rest = ''] =
    /^([a-z]+:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(text) ?? []
  const names: string[] = []
  const filled = path.replace(
    /\/(?::([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}|\[([A-Za-z_]\w*)\]|(\*{1,2}))(?=\/|$)/g,
    (_, colon?: string, brace?: string, bracket?: string) => {
      const wanted = colon ?? brace ?? bracket ?? 'path'
      const name = names.includes(wanted) ? `${wanted}_${names.length + 1}` : wanted
      names.push(name)
      return `/{${name}}`
    },
  )
  return { path: start.toLowerCase() + filled + rest, names }
}

interface Given extends Entry {
  payment: StatedPayment
  ref: string
}

function toOperation(given: Given): Operation | null {
  const { method, url, place, body: entry, payment, ref } = given
  const shapes = readShapes(given)
  const way = [entry.accepts ?? []].flat()[0]
  const others = [entry.resource, entry.metadata, way].map((each) => memberOf(each, 'description'))
  const description =
    [entry.description, ...others, entry.summary, entry.desc]
      .map(lineOf)
      .find((each) => each !== null) ?? undefined
  const inPath = place.map(
    (name): Param => ({
      ...{ name, in: 'path', required: true },
      schema: { type: 'string' },
    }),
  )
  const params = [...inPath, ...(shapes.params ?? []).filter(({ name }) => !place.includes(name))]
  const output = readX402Output(entry) ?? readOutput(entry)
  const known = method ?? (shapes.body === undefined ? 'GET' : 'POST')
  const { price, offers } = payment
  const plain: Operation = {
    ...{ method: known, url },
    ...present({ description, price, offers }),
    ...(method === null && { assumed: ['method'] as const }),
  }
  const whole = {
    ...plain,
    ...(params.length > 0 && { params: params.slice(0, MAX_PARAMS) }),
    ...(known !== 'GET' && present({ body: shapes.body })),
    ...(output !== null && { response: { ...output, ref } }),
  }
  const bare = { ...plain, ...(inPath.length > 0 && { params: inPath }) }
  return firstSound([whole, bare])
}

/** The input as x402 describes it or, failing that, a JSON Schema, whose fields are the query of a GET. */
function readShapes({ body: entry, method, input }: Entry) {
  const { method: _, ...reported } = input
  if (reported.params !== undefined || reported.body !== undefined) return reported
  const shape = [entry, entry.metadata]
    .map((place) => firstOf(place, ['inputSchema', 'input_schema', 'requestSchema']))
    .find(isJsonObject)
  if (shape === undefined) return {}
  if (method !== 'GET' && method !== null) {
    const body = v.safeParse(PayloadSchema, { schema: shape })
    return body.success ? { body: body.output } : {}
  }
  const required = listOf(shape.required)
  const params = Object.entries(objectOf(shape.properties)).flatMap(([name, field]) => {
    const head = { name, in: 'query', ...(required.includes(name) && { required: true }) }
    return firstValid(ParamSchema, [{ ...head, schema: field }, head])
  })
  return params.length > 0 ? { params } : {}
}

function readOutput(entry: Record<string, unknown>): v.InferOutput<typeof PayloadSchema> | null {
  const shape = [entry, entry.metadata]
    .map((place) => firstOf(place, ['outputSchema', 'output_schema', 'responseSchema']))
    .find(isJsonObject)
  const parsed = v.safeParse(PayloadSchema, { schema: shape })
  return shape !== undefined && parsed.success ? parsed.output : null
}

function firstOf(value: unknown, names: readonly string[]): unknown {
  return names.map((name) => memberOf(value, name)).find((each) => each !== undefined)
}

/** The input in `bazaar` (version 2 of x402) or `outputSchema` (version 1); invalid parts are left out. */
type X402Input = Pick<Operation, 'params' | 'body'>

/** Names of members in which sellers describe the query. */
const QUERY = ['queryParams', 'query_params', 'query', 'params']
const MOST_FIELDS = 40
/** Limits for an input's description: nobody reads a larger one. */
const BOUNDS = { depth: 16, nodes: 2000, characters: 30_000 } as const

/** Reads anything in the form of a 402's terms, such as a row in a discovery answer. */
export function readX402Input(stated: unknown): X402Input & { method?: unknown } {
  const bazaar = memberOf(memberOf(stated, 'extensions'), 'bazaar')
  const accepts = listOf(memberOf(stated, 'accepts'))
  const input = isJsonObject(bazaar)
    ? memberOf(memberOf(bazaar, 'info'), 'input')
    : memberOf(memberOf(accepts[0], 'outputSchema'), 'input')
  // In version 2, examples have their schema next to them.
  const schema = memberOf(memberOf(memberOf(bazaar, 'schema'), 'properties'), 'input')
  if (!isJsonObject(input) || !isWithin({ input, schema }, BOUNDS)) return {}
  const params = readParams(input, memberOf(schema, 'properties'))
  const body = readBody(input, memberOf(schema, 'properties'))
  return {
    method: input.method,
    ...(params.length > 0 && { params }),
    ...(body !== null && { body }),
  }
}

function readParams(input: Record<string, unknown>, schemas: unknown): Operation['params'] & {} {
  const values = QUERY.map((name) => input[name]).find(isJsonObject)
  const shape = memberOf(schemas, 'queryParams')
  const described = memberOf(shape, 'properties')
  const required = listOf(memberOf(shape, 'required'))
  const names = [...Object.keys(objectOf(values)), ...Object.keys(objectOf(described))]
  // A name with a special meaning in code is not a parameter.
  const own = [...new Set(names)].filter((name) => name !== '__proto__')
  return own.slice(0, MOST_FIELDS).flatMap((name) => {
    const value = objectOf(values)[name]
    const field = toField(objectOf(described)[name] ?? (isJsonObject(value) ? value : undefined))
    const isRequired = field.required || required.includes(name)
    const head = { name, in: 'query', ...(isRequired && { required: true }) }
    const { schema, description } = field
    const example = isJsonObject(value) ? undefined : value
    return firstValid(ParamSchema, [
      { ...head, ...present({ schema, description, example }) },
      { ...head, ...present({ example }) },
      head,
    ])
  })
}

function readBody(input: Record<string, unknown>, schemas: unknown): Operation['body'] | null {
  const type = input.bodyType
  if (type !== undefined && type !== 'json') return null
  const fields = memberOf(input, 'bodyFields')
  const example = isJsonObject(input.body) ? input.body : undefined
  const schema = isJsonObject(fields) ? toObjectSchema(fields) : memberOf(schemas, 'body')
  if (example === undefined && !isJsonObject(schema)) return null
  const [body] = firstValid(PayloadSchema, [
    present({ schema: isJsonObject(schema) ? schema : undefined, example }),
    present({ example }),
  ])
  return body ?? null
}

/** Version 1 describes a field by its type, a sentence and whether it is required. */
function toField(value: unknown) {
  if (!isJsonObject(value)) return { required: false }
  const { required, description, ...schema } = value
  return {
    required: required === true,
    ...(typeof description === 'string' && { description }),
    ...(Object.keys(schema).length > 0 && { schema }),
  }
}

function toObjectSchema(fields: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(fields).slice(0, MOST_FIELDS)
  const read = entries.map(([name, value]) => [name, toField(value)] as const)
  const required = read.filter(([, field]) => field.required).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      read.map(([name, { schema, description }]) => [
        name,
        { ...schema, ...present({ description }) },
      ]),
    ),
    ...(required.length > 0 && { required }),
  }
}

const MEDIA_TYPES: Record<string, string> = { json: 'application/json', text: 'text/plain' }

/**
 * The output according to a 402 or a row in a discovery answer: bazaar's `info.output` in version 2
 * of x402, `outputSchema.output` in version 1. Null if neither is valid.
 */
export function readX402Output(stated: unknown): NonNullable<Operation['response']> | null {
  const bazaar = memberOf(memberOf(stated, 'extensions'), 'bazaar')
  const accepts = memberOf(stated, 'accepts')
  const first = Array.isArray(accepts) ? accepts[0] : undefined
  const reading = isJsonObject(bazaar)
    ? readVersion2(bazaar)
    : readVersion1(memberOf(memberOf(first, 'outputSchema'), 'output'))
  if (reading === null || !isWithin(reading, BOUNDS)) return null
  const { schema, example } = reading
  const isFitting = schema === undefined || findValueFault(schema, example) === null
  const { example: _, ...plain } = reading
  return firstValid(PayloadSchema, isFitting ? [reading, plain] : [plain])[0] ?? null
}

interface Reading {
  content_type?: string
  schema?: unknown
  example?: unknown
}

/** An example, and its schema next to it under the same name. */
function readVersion2(bazaar: unknown): Reading | null {
  const output = memberOf(memberOf(bazaar, 'info'), 'output')
  if (!isJsonObject(output)) return null
  const shapes = memberOf(memberOf(memberOf(bazaar, 'schema'), 'properties'), 'output')
  const described = memberOf(memberOf(shapes, 'properties'), 'example')
  const schema = isJsonObject(described) && isShape(described) ? described : undefined
  const { example, format, type } = output
  if (example === undefined && schema === undefined && type === undefined) return null
  const content_type = [format, type].map(toMediaType).find((each) => each !== undefined)
  return present({ content_type, schema, example })
}

/** An output described by a JSON Schema. Some manifests have a list of names or a sentence, which is ignored. */
function readVersion1(output: unknown): Reading | null {
  if (!isJsonObject(output) || !isShape(output)) return null
  const { example, ...schema } = output
  return present({ schema, example })
}

/** Whether a schema states more than that its value is an object. */
function isShape({ type, properties, items }: Record<string, unknown>): boolean {
  if (isJsonObject(properties)) return Object.keys(properties).length > 0
  return type === 'array' ? isJsonObject(items) : type === 'string' || type === 'number'
}

function toMediaType(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined
  return MEDIA_TYPES[name] ?? (name.includes('/') ? name.toLowerCase() : undefined)
}
