import { isJsonObject, largestOf, smallestOf } from '../wire/json.ts'
import { cutText, joinNames, toOperationKey } from '../wire/text.ts'
import { type HttpMethod, RAILS, type Rail } from '../wire/vocabulary.ts'
import type { Auth } from './invoke.ts'
import { exampleOf, findValueFault, resolveReference, toPlaceholder } from './json-schema.ts'
import {
  fillPlaceholders,
  type ListingFacts,
  type Operation,
  type Param,
  placeholdersOf,
} from './listing-facts.ts'
import type { Pricing } from './pricing.ts'

/** What one call costs on one chain, or by card without a chain. */
export type Offer = NonNullable<Operation['offers']>[number]

/** The offer in one term of a 402 response; empty if the price is not known. */
export function toOffer({ rail, network, usd }: Term): Offer[] {
  if (usd === null) return []
  return [{ rail, ...(network !== null && { network }), min_usd: usd, max_usd: usd }]
}

interface Term {
  rail: Rail
  network: string | null
  usd: number | null
}

/** The pricing that covers every offer; unknown if there are none. */
export function pricingOf(offers: readonly Offer[]): Pricing {
  if (offers.length === 0) return { model: 'unknown' }
  return {
    model: 'per_call',
    min_usd: smallestOf(offers.map(({ min_usd }) => min_usd)),
    max_usd: largestOf(offers.map(({ max_usd }) => max_usd)),
    rails: RAILS.filter((known) => offers.some(({ rail }) => rail === known)),
    networks: [...new Set(offers.flatMap(({ network }) => network ?? []))].sort(),
  }
}

/** One offer per rail and chain: callers must expect the highest of several amounts. */
function toOffers(offers: readonly Offer[]): Offer[] {
  const byPlace = new Map<string, Offer>()
  for (const { rail, network, min_usd, max_usd } of offers) {
    const key = `${rail} ${network ?? ''}`
    const known = byPlace.get(key)
    byPlace.set(key, {
      rail,
      ...(network !== undefined && { network }),
      min_usd: Math.min(min_usd, known?.min_usd ?? min_usd),
      max_usd: Math.max(max_usd, known?.max_usd ?? max_usd),
    })
  }
  return [...byPlace.values()]
}

/** The price that covers every offer for one operation. */
export function toPrice(
  offers: readonly Offer[],
  per: NonNullable<Operation['price']>['per'] = 'call',
): Pick<Operation, 'price' | 'offers'> {
  const pricing = pricingOf(offers)
  if (pricing.model === 'unknown') return {}
  const { min_usd, max_usd } = pricing
  return { price: { min_usd, max_usd, per }, offers: toOffers(offers) }
}

export function offersOf(operations: readonly Pick<Operation, 'offers'>[]): Offer[] {
  return operations.flatMap(({ offers = [] }) => offers)
}

/** An inconsistency between the fields of a listing's operations, with its path in the facts. */
interface OperationFault {
  path: Path
  message: string
}

type Path = (string | number)[]

/** Checks examples against schemas, placeholders against parameters, and prices against bounds. */
export function findOperationFaults({
  pricing,
  http = [],
}: {
  /** Each field below is absent if it has errors of its own. */
  pricing?: Pricing | undefined
  http?: ListingFacts['http'] | undefined
}): OperationFault[] {
  return [
    ...http.flatMap((operation, i) =>
      findOwnFaults(operation).map(({ path, message }) => ({
        path: ['http', i, ...path],
        message,
      })),
    ),
    ...findRepeated('operation', ['http'], http.map(toOperationKey)),
    ...(pricing === undefined ? [] : findPricingFaults(pricing, http)),
  ]
}

function findOwnFaults(operation: Operation): OperationFault[] {
  const { method, body, response } = operation
  const hasBody = method === 'GET' && body !== undefined
  return [
    ...findParamFaults(operation),
    ...findPriceFaults(operation),
    ...faultIf(hasBody, ['body'], 'expected no body for a GET: use params'),
    ...findExampleFault(['body'], body),
    ...findExampleFault(['response'], response),
  ]
}

function findParamFaults({ url, params = [] }: Operation): OperationFault[] {
  const inUrl = placeholdersOf(url)
  const inPath = params.filter((param) => param.in === 'path').map(({ name }) => name)
  // Header names are compared without case.
  const keys = params.map(({ in: place, name }) =>
    place === 'header' ? `header ${name.toLowerCase()}` : `${place} ${name}`,
  )
  return [
    ...findRepeated('parameter', ['params'], keys),
    ...inUrl.flatMap((name) =>
      faultIf(
        !inPath.includes(name),
        ['url'],
        `expected {${name}} to be declared in params, as { name: ${name}, in: path, … }`,
      ),
    ),
    ...params.flatMap((param, at) => [
      ...faultIf(
        param.in === 'path' && !inUrl.includes(param.name),
        ['params', at, 'name'],
        `expected {${param.name}} in the path of url, which lacks it`,
      ),
      ...faultIf(
        param.in === 'path' && param.required === false,
        ['params', at, 'required'],
        'expected true: a path parameter cannot be left out',
      ),
      ...findExampleFault(['params', at], param),
    ]),
  ]
}

function findPriceFaults({ price, offers = [] }: Operation): OperationFault[] {
  return [
    ...findBoundsFault(['price'], price),
    ...offers.flatMap((offer, i) => [
      ...findBoundsFault(['offers', i], offer),
      ...faultIf(
        price !== undefined && isBeyond(offer, price),
        ['offers', i],
        `expected an offer within the operation's price range of ${price?.min_usd} to ${price?.max_usd} USD`,
      ),
    ]),
    ...findRepeated(
      'offer',
      ['offers'],
      offers.map(({ rail, network = 'no network' }) => `${rail} on ${network}`),
    ),
  ]
}

type Bounds = Pick<NonNullable<Operation['price']>, 'min_usd' | 'max_usd'>

function isBeyond(bounds: Bounds, limits: Bounds): boolean {
  return bounds.min_usd < limits.min_usd || bounds.max_usd > limits.max_usd
}

function findBoundsFault(path: Path, bounds: Bounds | undefined): OperationFault[] {
  const isTurned = bounds !== undefined && bounds.min_usd > bounds.max_usd
  return faultIf(isTurned, [...path, 'max_usd'], 'expected max_usd to be at least min_usd')
}

function findPricingFaults(pricing: Pricing, operations: readonly Operation[]): OperationFault[] {
  const offers = operations.flatMap((operation) => operation.offers ?? [])
  if (pricing.model === 'unknown')
    return faultIf(
      offers.length > 0,
      ['pricing'],
      'expected model per_call: an operation has offers, so the listing has a price',
    )
  const { min_usd, max_usd, rails, networks } = pricing
  return [
    ...operations.flatMap(({ price, method, url }, i) =>
      faultIf(
        price?.per === 'call' && isBeyond(price, pricing),
        ['http', i, 'price'],
        `expected pricing to cover ${method} ${url} at ${price?.min_usd} to ${price?.max_usd} USD; it is ${min_usd} to ${max_usd}`,
      ),
    ),
    ...findUnionFault('rails', rails, new Set(offers.map(({ rail }) => rail))),
    ...findUnionFault(
      'networks',
      networks,
      new Set(offers.flatMap((offer) => offer.network ?? [])),
    ),
  ]
}

/** If operations have offers, the listing's rails and networks must be their union. */
function findUnionFault(
  name: string,
  stated: readonly string[],
  offered: ReadonlySet<string>,
): OperationFault[] {
  const isSame = stated.length === offered.size && stated.every((one) => offered.has(one))
  const message = `expected exactly the values in the operations' offers: ${[...offered].join(', ')}`
  return faultIf(offered.size > 0 && !isSame, ['pricing', name], message)
}

function findExampleFault(
  path: Path,
  { schema, example }: { schema?: unknown; example?: unknown } = {},
): OperationFault[] {
  if (schema === undefined || example === undefined) return []
  const message = findValueFault(schema, example)
  return message === null ? [] : [{ path: [...path, 'example'], message }]
}

function findRepeated(noun: string, path: Path, keys: readonly string[]): OperationFault[] {
  return keys.flatMap((key, at) =>
    faultIf(keys.indexOf(key) < at, [...path, at], `expected each ${noun} once, got ${key} again`),
  )
}

function faultIf(isWrong: boolean, path: Path, message: string): OperationFault[] {
  return isWrong ? [{ path, message }] : []
}

/** A request that a caller may send unchanged, except for what is in `<ANGLE_BRACKETS>`. */
export interface ExampleRequest {
  method: HttpMethod
  url: string
  headers: Record<string, string>
  /** A JSON value if the content type is JSON, else text; absent if no body is sent. */
  body?: unknown
}

/** An example request: required parameters and those with an example; `<PLACEHOLDER>` for values that nobody can guess. */
export function toExampleRequest(operation: Operation, auth: Auth): ExampleRequest {
  const params = operation.params ?? []
  const sent = params.filter(
    (param) => param.example !== undefined || param.required === true || param.in === 'path',
  )
  const query = sent.filter((param) => param.in === 'query').map(toPair)
  const headers = sent.filter((param) => param.in === 'header').map(toPair)
  if (auth.type === 'api_key' && auth.name !== undefined && !isAmong(auth.name, params))
    (auth.in === 'query' ? query : headers).push([auth.name, toPlaceholder('api_key')])
  if ((auth.type === 'bearer' || auth.type === 'oauth') && !isAmong('Authorization', params))
    headers.push(['Authorization', `Bearer ${toPlaceholder('token')}`])
  const body = toBody(operation)
  if (body !== undefined)
    headers.push(['Content-Type', operation.body?.content_type ?? 'application/json'])
  return {
    method: operation.method,
    url: withQuery(fillPath(operation), query),
    headers: Object.fromEntries(headers),
    ...(body !== undefined && { body }),
  }
}

/** An undescribed body is assumed to be JSON, as nearly all are. */
function toBody({ method, body, params }: Operation): unknown {
  if (method === 'GET') return undefined
  if (body !== undefined)
    return body.example ?? (body.schema && exampleOf(body.schema, 'body')) ?? {}
  return method === 'DELETE' || params !== undefined ? undefined : {}
}

function fillPath({ url, params = [] }: Operation): string {
  return fillPlaceholders(url, (name) => {
    const param = params.find((each) => each.in === 'path' && each.name === name)
    return param === undefined ? toPlaceholder(name) : encodeValue(toPair(param)[1])
  })
}

export function withQuery(url: string, query: readonly [string, string][]): string {
  if (query.length === 0) return url
  const [address = '', fragment] = url.split('#')
  const text = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeValue(value)}`)
  const joint = address.includes('?') ? '&' : '?'
  return `${address}${joint}${text.join('&')}${fragment === undefined ? '' : `#${fragment}`}`
}

function toPair(param: Param): [string, string] {
  const value = param.example ?? (param.schema && exampleOf(param.schema, param.name))
  return [param.name, value === undefined ? toPlaceholder(param.name) : toText(value)]
}

function isAmong(name: string, params: readonly Param[]): boolean {
  return params.some((param) => param.name.toLowerCase() === name.toLowerCase())
}

export function encodeBody(contentType: string, body: unknown): string {
  const isJson = contentType === 'application/json' || contentType.endsWith('+json')
  if (typeof body === 'string' && !isJson) return body
  if (contentType === 'application/x-www-form-urlencoded' && isJsonObject(body))
    return Object.entries(body)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeValue(toText(value))}`)
      .join('&')
  return JSON.stringify(body)
}

export function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A placeholder is not encoded, so that the caller sees it. */
export function encodeValue(value: string): string {
  return /^<[A-Z0-9_]+>$/.test(value) ? value : encodeURIComponent(value)
}

/**
 * Kept apart from the snippets: otherwise their texts would be bundled wherever a word is quoted.
 * Single quotes protect everything except a single quote.
 */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** The words of a command; plain words need no quotes. */
export function toShellWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoteForShell(word))).join(' ')
}

/** Without -g, curl treats brackets and braces in a URL as patterns; with --data-raw, an @ names no file to read. */
export function toCurlOptions({ method, url, headers = {}, body }: Sent): string {
  return [
    `-g -X ${method}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoteForShell(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [
          `--data-raw ${quoteForShell(encodeBody(headers['Content-Type'] ?? 'application/json', body))}`,
        ]),
    quoteForShell(url),
  ].join(' ')
}

interface Sent {
  method: string
  url: string
  headers?: Readonly<Record<string, string>> | undefined
  body?: unknown
}

/** How many names of a nested object are shown. */
const MAX_INNER = 8
/** How long the names inside a field may be in total, when they follow the field's own name. */
const MAX_INNER_NAMES = 40
const MAX_DEPTH = 4

interface OutputField {
  name: string
  type: string
  /** Whether the schema requires or describes the field. */
  isStated: boolean
}

type Response = NonNullable<Operation['response']>
type Schema = Readonly<Record<string, unknown>>

/**
 * An answer's outer fields, from its schema or, without one, its example. Fields that contain the
 * task's output come first, then fields that the schema requires or describes; fields about the
 * answer itself (`meta`, `pagination`) come last.
 * @example toOutputFields({ …, example: { results: [{ url: '…', score: 1 }] } }) → [{ name:
 *   'results', type: '[{url, score}]' }]
 */
export function toOutputFields({ response, result = {} }: Answering): OutputField[] {
  const { schema, example } = response ?? {}
  const ofSchema = schema === undefined ? [] : fieldsOf(schema, schema)
  const fields = ofSchema.length > 0 ? ofSchema : fieldsOf(toShape(example, 0), {})
  const holds = new Set(Object.values(result).map((path) => OUTER.exec(path)?.[1]))
  const placeOf = ({ name, isStated }: OutputField) => {
    const field = name.replace('[].', '')
    if (holds.has(field)) return 0
    return ABOUT_THE_ANSWER.test(field) ? 3 : isStated ? 1 : 2
  }
  return fields.sort((a, b) => placeOf(a) - placeOf(b))
}

/**
 * Names of the outer fields, each with the first names inside it.
 * @example toOutputNames({ …, example: { results: [{ url: '…', score: 1 }] } }) → ['results: url, score']
 */
export function toOutputNames(operation: Answering): string[] {
  return toOutputFields(operation).map(({ name, type }) => {
    const [, inner] = /^\[?\{([^{}]+)\}\]?$/.exec(type) ?? []
    return inner === undefined ? name : `${name}: ${joinNames(inner.split(', '), MAX_INNER_NAMES)}`
  })
}

/** An example as JSON that can still be parsed: lists, texts and objects are shortened until it fits, if possible. */
export function toSample(example: unknown, maxLength: number): string {
  const samples = [8, 5, 3, 2].map((members) => JSON.stringify(shorten(example, members), null, 2))
  return (
    samples.find(({ length }) => length <= maxLength) ?? cutText(samples.at(-1) ?? '', maxLength)
  )
}

/** A value with only the first item of each list, and each object's first `members` by content. */
function shorten(value: unknown, members: number, depth = 0): unknown {
  if (typeof value === 'string') return cutText(value, MAX_SAMPLE_TEXT)
  if (Array.isArray(value))
    return value.slice(0, 1).map((item) => shorten(item, members, depth + 1))
  if (!isJsonObject(value)) return value
  const all = Object.entries(value)
  const holds = (each: unknown) => Number(typeof each === 'object' && each !== null)
  const kept = all.length > members ? all.toSorted(([, a], [, b]) => holds(b) - holds(a)) : all
  const inside = kept.slice(0, depth < MAX_DEPTH ? members : 0)
  return Object.fromEntries(inside.map(([name, each]) => [name, shorten(each, members, depth + 1)]))
}

const MAX_SAMPLE_TEXT = 45

/** Fields that describe the answer itself, and nothing that a buyer wants. */
const ABOUT_THE_ANSWER =
  /^(?:_?(?:meta|metadata|links)|meta data|pagination|paging|success|ok|status(?:_?code)?|code|message|request_?id|credits_\w+|errors?|error_?id|warnings|usage)$/i

/** The outer field of a path such as `organic[].{url: link}`. */
const OUTER = /^(?:\[\d*\]\.?)?"?([^"[\].{]+)/
type Answering = Pick<Operation, 'response'> & { result?: Record<string, string> | undefined }

export function isJsonPayload({ content_type }: Pick<Response, 'content_type'>): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(content_type)
}

function fieldsOf(schema: unknown, root: unknown): OutputField[] {
  const { properties, items, required } = toWhole(schema, root)
  if (items !== undefined)
    return fieldsOf(items, root).map((field) => ({ ...field, name: `[].${field.name}` }))
  return Object.entries(properties ?? {}).map(([name, field]) => ({
    name,
    type: typeOf(field, root),
    isStated: required.includes(name) || (isJsonObject(field) && 'description' in field),
  }))
}

function typeOf(schema: unknown, root: unknown): string {
  const { type, properties, items } = toWhole(schema, root)
  if (items !== undefined) return `[${typeOf(items, root)}]`
  const fields = Object.entries(properties ?? {})
  // If there are many fields, lists come first: for most calls a list is what the buyer pays for.
  const isList = ([, field]: [string, unknown]) => toWhole(field, root).items !== undefined
  if (fields.length > MAX_INNER) fields.sort((a, b) => Number(isList(b)) - Number(isList(a)))
  const names = fields.map(([name]) => name)
  if (names.length === 0) return type
  return `{${names.slice(0, MAX_INNER).join(', ')}${names.length > MAX_INNER ? ', …' : ''}}`
}

/** A schema with its reference and parts merged in, as far as needed to list its fields. */
function toWhole(schema: unknown, root: unknown, depth = 0) {
  const own: Schema = isJsonObject(schema) ? schema : {}
  const { $ref: reference, allOf, oneOf, anyOf } = own
  const named = typeof reference === 'string' ? [resolveReference(root, reference)] : []
  const all = Array.isArray(allOf) ? allOf : []
  const [choice] = [oneOf, anyOf].filter(Array.isArray).flat()
  const inside: { properties?: Schema; items?: unknown; type: string; required: unknown[] }[] =
    depth >= MAX_DEPTH
      ? []
      : [...named, ...all, choice]
          .filter(isJsonObject)
          .map((part) => toWhole(part, root, depth + 1))
  const maps = [...inside.map(({ properties }) => properties), own.properties].filter(isJsonObject)
  const items = own.items ?? inside.find((part) => part.items !== undefined)?.items
  const types = [own.type].flat().filter((type) => typeof type === 'string' && type !== 'null')
  const properties: Schema = Object.fromEntries(maps.flatMap((map) => Object.entries(map)))
  return {
    ...(maps.length > 0 && { properties }),
    ...(isJsonObject(items) && { items }),
    required: [...inside.map((part) => part.required), own.required].filter(Array.isArray).flat(),
    type: types.length > 0 ? types.join(' or ') : (inside[0]?.type ?? 'any'),
  }
}

/** A value's schema, with types only. */
function toShape(value: unknown, depth: number): Schema {
  if (value === null || value === undefined || depth > MAX_DEPTH) return {}
  if (Array.isArray(value)) return { type: 'array', items: toShape(value[0], depth + 1) }
  if (!isJsonObject(value)) return { type: typeof value }
  const entries = Object.entries(value).map(([name, each]) => [name, toShape(each, depth + 1)])
  return { type: 'object', properties: Object.fromEntries(entries) }
}
