import * as v from 'valibot'
import { findValueFault, resolveReference } from '../listing/json-schema.ts'
import {
  type Operation,
  ParamSchema,
  PayloadSchema,
  placeholdersOf,
} from '../listing/listing-facts.ts'
import { eachOnce, isJsonObject, listOf, memberOf, objectOf, present } from '../wire/json.ts'
import { firstValid } from '../wire/shapes.ts'
import { HTTP_METHODS } from '../wire/vocabulary.ts'
import {
  type Described,
  type DescribedApi,
  firstSound,
  lineOf,
  readPaymentInfo,
  toDescribedApi,
} from './payment-info.ts'

const MAX_PARAMS = 30
/** The longest example that is kept (characters of JSON): a longer one is a data set. */
const MAX_EXAMPLE = 4000

interface Source {
  document: Record<string, unknown>
  address: string
}

/**
 * Reads OpenAPI 3.0 and 3.1 about the seller's own origin; null for any other document. References
 * within the document are followed; all other references are left out.
 * @param address where the document was read
 */
export function readOpenApi(document: unknown, address: string): DescribedApi | null {
  if (!isJsonObject(document) || !/^3\./.test(String(document.openapi))) return null
  if (!isJsonObject(document.paths)) return null
  const source = { document, address }
  const found = Object.entries(document.paths).flatMap(([path, item]) =>
    path.startsWith('/') ? readPath(path, dereference(item, document), source) : [],
  )
  const sound = found.flatMap(({ operation, payment }) => {
    const whole = toSound(operation)
    return whole === null ? [] : [{ operation: whole, payment }]
  })
  const info = objectOf(document.info)
  const about = { title: lineOf(info.title), description: lineOf(info.description) }
  return toDescribedApi(
    about,
    sound,
    sound.map(({ payment }) => payment),
  )
}

/** An operation that is valid by our rules, without its shapes if they are the invalid part; null if it is not valid. */
function toSound(operation: Operation): Operation | null {
  const { body: _, response: _response, params, ...rest } = operation
  const bare = params?.map(({ schema: _schema, example: _example, ...param }) => param)
  return firstSound([operation, { ...rest, ...present({ params: bare }) }])
}

function readPath(path: string, item: Record<string, unknown>, source: Source): Described[] {
  const { document } = source
  const shared = listOf(item.parameters)
  return HTTP_METHODS.flatMap((method): Described[] => {
    const reported = item[method.toLowerCase()]
    if (!isJsonObject(reported)) return []
    const base = findBase([reported.servers, item.servers, document.servers], source.address)
    if (base === null) return []
    const url = base + path
    const params = [...listOf(reported.parameters), ...shared].flatMap((each) =>
      readParam(dereference(each, document), document),
    )
    const description = lineOf(reported.summary) ?? lineOf(reported.description) ?? undefined
    const body = method === 'GET' ? undefined : readBody(reported.requestBody, document)
    const payment = readPaymentInfo(paymentInfoOf(reported, `${method} ${path}`, document))
    const { offers, price } = payment
    const response = readResponse(reported, source)
    const shapes = { ...withPlaces(url, params), ...present({ body, response }) }
    const operation = { method, url, ...present({ description, price, offers }), ...shapes }
    return [{ operation, payment }]
  })
}

/**
 * What the document states about paying: at the operation; or in a table for the whole document, by method and path; or
 * in the writer's own members, `x-x402-price` and, with network and payee, `info.x-x402`.
 */
function paymentInfoOf(
  operation: Record<string, unknown>,
  name: string,
  document: Record<string, unknown>,
): unknown {
  const own = operation['x-payment-info']
  const table = memberOf(memberOf(document.info, 'x-payment-info'), 'endpoints')
  if (own !== undefined) return dereference(own, document)
  return memberOf(table, name) ?? readOwnMembers(operation, document)
}

function readOwnMembers(operation: Record<string, unknown>, document: Record<string, unknown>) {
  const named = Object.entries(operation).filter(([name]) => /^x-.*(?:x402|mpp|price)/i.test(name))
  if (named.length === 0) return undefined
  const [whole, shared] = [named.find(([, value]) => isJsonObject(value))?.[1], document.info]
  const price = named.find(([name]) => /price/i.test(name))?.[1]
  const protocols = named.some(([name]) => /x402/i.test(name)) ? ['x402'] : []
  const ways = objectOf(memberOf(shared, 'x-x402') ?? document['x-x402'])
  const { network, payTo, payee } = ways
  return { protocols, ...present({ network, payTo: payTo ?? payee, price }), ...objectOf(whole) }
}

const MAX_SERVERS = 20
const MAX_CHOICES = 30

/** The first server on the seller's own origin; the origin itself if the document names no server. */
function findBase(named: readonly unknown[], address: string): string | null {
  const { origin } = new URL(address)
  const lists = named.map((each) => listOf(each).filter((server) => !isOfWriter(server)))
  const list = lists.find((each) => each.length > 0)
  if (list === undefined) return origin
  for (const server of list.slice(0, MAX_SERVERS).filter(isJsonObject))
    for (const url of fillVariables(server)) {
      const base = URL.parse(url, address)
      if (base?.origin === origin) return base.href.replace(/\/+$/, '')
    }
  return null
}

/** Whether only the document's writer can use a server, such as localhost: often it is left in by mistake. */
function isOfWriter(server: unknown): boolean {
  const hosts = fillVariables(objectOf(server)).map((url) => URL.parse(url)?.hostname ?? '')
  const local = /^(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1\])$/
  return hosts.length > 0 && hosts.every((host) => local.test(host))
}

/** A server's address with its variables filled in: first the defaults, then each choice for one variable. */
function fillVariables({ url, variables }: Record<string, unknown>): string[] {
  if (typeof url !== 'string') return []
  const choices = Object.entries(objectOf(variables)).map(([name, variable]) => ({
    name,
    fallback: String(memberOf(variable, 'default') ?? ''),
    values: listOf(memberOf(variable, 'enum')).slice(0, MAX_CHOICES).map(String),
  }))
  const fill = (chosen: Record<string, string>) =>
    url.replace(/\{([^{}]+)\}/g, (whole, name: string) => chosen[name] ?? whole)
  const defaults = Object.fromEntries(choices.map(({ name, fallback }) => [name, fallback]))
  const others = choices.flatMap(({ name, values }) =>
    values.map((value) => fill({ ...defaults, [name]: value })),
  )
  return [fill(defaults), ...others].filter((each) => !/[{}]/.test(each))
}

type Params = NonNullable<Operation['params']>

function readParam(param: Record<string, unknown>, document: unknown): Params {
  const { name, in: place } = param
  if (typeof name !== 'string' || (place !== 'query' && place !== 'path' && place !== 'header'))
    return []
  const description = lineOf(param.description) ?? undefined
  const own = isJsonObject(param.schema) ? inlineSchema(param.schema, document) : {}
  const [named] = Object.values(objectOf(param.examples))
  const example = param.example ?? dereference(named, document).value ?? own.example ?? own.default
  const { example: _, ...shape } = own
  const head = {
    ...{ name, in: place },
    ...((param.required === true || place === 'path') && { required: true }),
    ...present({ description }),
  }
  const isShaped = Object.keys(shape).length > 0
  for (const reading of [
    { ...head, ...(isShaped && { schema: shape }), ...present({ example }) },
    { ...head, ...(isShaped && { schema: shape }) },
    { ...head, ...(typeof own.type === 'string' && { schema: { type: own.type } }) },
    head,
  ]) {
    const parsed = v.safeParse(ParamSchema, reading)
    if (parsed.success && isFitting(parsed.output)) return [parsed.output]
  }
  return []
}

function isFitting({ schema: shape, example }: Params[number]): boolean {
  return shape === undefined || example === undefined || findValueFault(shape, example) === null
}

/** Parameters: the operation's own first, then path parameters that nobody declared. */
function withPlaces(url: string, params: Params): Pick<Operation, 'params'> {
  const places = placeholdersOf(url)
  const undeclared = places.map((name) => ({ name, in: 'path' as const, required: true }))
  const all = eachOnce([...params, ...undeclared], (param) => `${param.in} ${param.name}`).filter(
    (param) => param.in !== 'path' || places.includes(param.name),
  )
  // Callers need all required parameters; only the others may be cut.
  const { need = [], rest = [] } = Object.groupBy(all, ({ required }) =>
    required ? 'need' : 'rest',
  )
  const kept = [...need, ...rest].slice(0, MAX_PARAMS)
  return kept.length === 0 ? {} : { params: all.filter((param) => kept.includes(param)) }
}

function readBody(value: unknown, document: unknown): Operation['body'] {
  const content = objectOf(dereference(value, document).content)
  const type = jsonTypeOf(content)
  if (type === undefined) return undefined
  return readPayload(dereference(content[type], document), 'application/json', document)
}

/** An operation's good answer; callers check answers by its schema. */
function readResponse(
  operation: Record<string, unknown>,
  { document, address }: Source,
): Operation['response'] {
  const responses = objectOf(operation.responses)
  const status = ['200', '201', '202', '203', '2XX', '2xx', 'default'].find((each) =>
    Object.hasOwn(responses, each),
  )
  if (status === undefined) return undefined
  const content = objectOf(dereference(responses[status], document).content)
  const type = jsonTypeOf(content) ?? Object.keys(content)[0]
  if (type === undefined) return undefined
  const media = dereference(content[type], document)
  const read = readPayload(media, type.split(';')[0]?.trim().toLowerCase() ?? '', document)
  return read && { ...read, ref: address }
}

function jsonTypeOf(content: Record<string, unknown>): string | undefined {
  return Object.keys(content).find((type) => /^application\/(?:[\w.-]+\+)?json\b/.test(type))
}

/** Leaves out an example that violates its own schema, and a schema that nobody can use. */
function readPayload(
  media: Record<string, unknown>,
  content_type: string,
  document: unknown,
): v.InferOutput<typeof PayloadSchema> | undefined {
  const shape = isJsonObject(media.schema) ? inlineSchema(media.schema, document) : undefined
  const example = readExample(media, document)
  const isGood =
    example !== undefined && (shape === undefined || findValueFault(shape, example) === null)
  return firstValid(PayloadSchema, [
    { content_type, ...present({ schema: shape }), ...(isGood && { example }) },
    { content_type },
  ])[0]
}

/** The media type's own example, else its first named example, else the schema's. */
function readExample(media: Record<string, unknown>, document: unknown): unknown {
  const [named] = Object.values(objectOf(media.examples))
  const ofSchema = dereference(media.schema, document).example
  const example = media.example ?? dereference(named, document).value ?? ofSchema
  const size = example === undefined ? 0 : (JSON.stringify(example)?.length ?? 0)
  return size > MAX_EXAMPLE ? undefined : example
}

const MAX_HOPS = 5

function dereference(value: unknown, document: unknown): Record<string, unknown> {
  let object = objectOf(value)
  for (let hop = 0; hop < MAX_HOPS && typeof object.$ref === 'string'; hop += 1)
    object = objectOf(resolveReference(document, object.$ref))
  return object
}

/** A schema beyond these limits helps no caller: deeper parts are left open. */
const INLINE_DEPTH = 8

const INLINE_NODES = 1000

/**
 * An OpenAPI document's schema made self-contained: its references are filled in, and 3.0's
 * `nullable` becomes a type. Recursive references are left open.
 * @param document the document in which references are looked up
 */
function inlineSchema(schema: unknown, document: unknown): Record<string, unknown> {
  const budget = { left: INLINE_NODES }
  const inlined = inline(schema, { document, depth: 0, budget, above: [] })
  return objectOf(inlined)
}

interface InlinePlace {
  document: unknown
  depth: number
  budget: { left: number }
  /** The references that are being filled in. */
  above: readonly string[]
}

function inline(value: unknown, place: InlinePlace): unknown {
  place.budget.left -= 1
  if (typeof value !== 'object' || value === null) return value
  if (place.depth > INLINE_DEPTH || place.budget.left < 0) return Array.isArray(value) ? [] : {}
  const inside = { ...place, depth: place.depth + 1 }
  if (Array.isArray(value)) return value.map((each) => inline(each, inside))
  const { $ref: reference, ...rest } = Object.fromEntries(Object.entries(value))
  if (typeof reference === 'string') {
    if (place.above.includes(reference)) return {}
    const found = resolveReference(place.document, reference)
    return inline(found ?? {}, { ...place, above: [...place.above, reference] })
  }
  const members = Object.entries(rest).map(([name, member]) => [name, inline(member, inside)])
  return withNull(Object.fromEntries(members))
}

function withNull({ nullable, ...schema }: Record<string, unknown>): Record<string, unknown> {
  const isOfType = nullable === true && typeof schema.type === 'string'
  // A property may also be called `nullable`; then its value is an object.
  if (nullable !== undefined && typeof nullable !== 'boolean') return { ...schema, nullable }
  if (!isOfType) return schema
  const choices = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}
  return { ...schema, type: [schema.type, 'null'], ...choices }
}
