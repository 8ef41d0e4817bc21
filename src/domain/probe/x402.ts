import * as v from 'valibot'
import { findValueFault } from '../json-schema/value-fault.ts'
import { toPayout } from '../listing/caip-account.ts'
import { type Operation, ParamSchema, PayloadSchema } from '../listing/operation.ts'
import { toCountText } from '../operation/price-text.ts'
import { parseBase64Json } from '../relay/base64-json.ts'
import { toCaip2, toUsd } from '../settlement/usd-assets.ts'
import { AcceptSchema } from '../trust/seen-answer.ts'
import { isJsonObject, memberOf, present } from '../wire/parse-json.ts'
import type { HttpMethod, Rail } from '../wire/vocabulary.ts'
import {
  type Finding,
  headerOf,
  isJsonType,
  isWithin,
  jsonOf,
  judgeStatus,
  MAX_TERMS,
  mediaTypeOf,
  type PaymentTerm,
  type ProbeAnswer,
  type ReadTerms,
  toFinding,
  toHeadText,
  toWrong,
} from './finding.ts'
import { readMppTerms } from './mpp.ts'

interface AskedOperation {
  method: HttpMethod
  url: string
  /** The method is our guess: a refusal of it says nothing about the seller. */
  isGuess: boolean
}

/**
 * `spoke` is a 402 whose terms can be decoded on a rail the listing declares.
 * @param now milliseconds since the epoch
 */
export function judgePayment(
  answer: ProbeAnswer,
  operation: AskedOperation,
  rails: readonly Rail[],
  now: number,
): Finding {
  const protocol = rails.includes('x402') ? 'x402' : 'mpp'
  if (answer.status !== 402) return judgeUnpaid(answer, operation, protocol, now)
  const readers = { x402: readX402Terms, mpp: readMppTerms }
  const read = rails.map((rail) => ({ rail, result: readers[rail](answer) }))
  const decoded = read.flatMap(({ rail, result }) => (result.found ? [{ rail, result }] : []))
  const [best] = decoded
  if (best === undefined) {
    const reasons = read.map(({ result }) => (result.found ? '' : result.saw))
    return toWrong(protocol, answer, `status 402, ${reasons.join('; ')}`)
  }
  const terms = decoded.flatMap(({ result }) => result.terms)
  const offers = terms.map(({ scheme, network, usd }) => {
    return `${usd === null ? scheme : `$${usd}`} on ${network ?? 'another network'}`
  })
  const { method, url } = operation
  const finding: Finding = {
    protocol: best.rail,
    outcome: 'spoke',
    version: best.rail === 'x402' ? best.result.version : '1',
    saw: `402 with ${toCountText(terms.length, 'offer')}: ${offers.join(', ')}`,
    sight: {
      from: best.rail,
      operation: { method, url, ...(best.rail === 'x402' && readX402Shapes(answer, url)) },
      terms,
      ...(decoded.some(({ result }) => result.isCut) && { truncated: true }),
    },
  }
  return toFinding(finding, answer)
}

function judgeUnpaid(
  answer: ProbeAnswer,
  { method, isGuess }: AskedOperation,
  protocol: Rail,
  now: number,
): Finding {
  const { status } = answer
  const outcome = status === 404 ? 'dead' : 'unprobeable'
  const saw = `status ${status} to ${method}, which is our guess: the listing names no method`
  if (isGuess && (status === 404 || status === 405))
    return toFinding({ protocol, outcome, saw }, answer)
  const common = judgeStatus(protocol, answer, now)
  if (common !== null) return common
  const type = mediaTypeOf(answer) || 'no content type'
  const instead = status >= 200 && status <= 299 ? 'without payment' : 'instead of 402'
  return toWrong(protocol, answer, `status ${status} ${instead}, ${type}`)
}

/**
 * `spoke` is a 2xx with the declared content type, JSON that parses where none is declared.
 * @param expected that media type, or null
 * @param now milliseconds since the epoch
 */
export function judgeHttp(
  answer: ProbeAnswer,
  { method, url }: Pick<AskedOperation, 'method' | 'url'>,
  expected: string | null,
  now: number,
): Finding {
  const common = judgeStatus('http', answer, now)
  if (common !== null) return common
  const { status } = answer
  const type = mediaTypeOf(answer)
  if (status < 200 || status > 299) return toWrong('http', answer, toHeadText(answer))
  const wanted = expected?.split(';')[0]?.trim().toLowerCase() ?? null
  const isRight = wanted === null || isJsonType(wanted) ? isJsonType(type) : type === wanted
  const said = `status ${status} with ${type || 'no content type'}`
  if (!isRight) return toWrong('http', answer, `${said}, expected ${wanted ?? 'application/json'}`)
  // A truncated document is judged by its content type; a complete one must parse.
  if (isJsonType(type) && answer.cut !== 'size' && jsonOf(answer) === undefined)
    return toWrong('http', answer, `${said} that is not JSON`)
  const sight = { from: 'http', operation: { method, url } } as const
  return toFinding({ protocol: 'http', outcome: 'spoke', saw: toHeadText(answer), sight }, answer)
}

const units = v.pipe(v.string(), v.regex(/^\d{1,40}$/))
const short = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

const OfferSchema = v.pipe(
  v.object({
    scheme: short,
    network: short,
    asset: short,
    payTo: short,
    amount: v.optional(units),
    maxAmountRequired: v.optional(units),
    maxTimeoutSeconds: v.optional(v.unknown()),
    extra: v.optional(v.unknown()),
  }),
  v.check(({ amount, maxAmountRequired }) => (amount ?? maxAmountRequired) !== undefined),
)

/** Version 2 in `PAYMENT-REQUIRED`, 1 in the body. A client of version 2 does not read the body. */
export function readX402Terms(answer: ProbeAnswer): ReadTerms {
  const header = headerOf(answer, 'payment-required')
  if (header !== undefined) {
    const value = parseBase64Json(header)
    if (!isJsonObject(value)) return missing('a PAYMENT-REQUIRED header that is not base64 JSON')
    return readOffers(value, '2', 'the PAYMENT-REQUIRED header')
  }
  const body = jsonOf(answer)
  if (!isJsonObject(body)) return missing('a 402 without PAYMENT-REQUIRED header or JSON body')
  if (body.x402Version === 2)
    return missing('terms of x402 version 2 in the body only; clients read the header')
  if (body.x402Version !== 1) return missing('a 402 whose body has no x402Version 1')
  return readOffers(body, '1', 'the body')
}

function readOffers(value: Record<string, unknown>, version: string, where: string): ReadTerms {
  if (value.x402Version !== Number(version))
    return missing(`${where} says x402Version ${JSON.stringify(value.x402Version)?.slice(0, 20)}`)
  const { accepts } = value
  if (!Array.isArray(accepts) || accepts.length === 0) return missing(`no accepts in ${where}`)
  const terms = accepts.slice(0, MAX_TERMS).flatMap((offer) => {
    const parsed = v.safeParse(OfferSchema, offer)
    return parsed.success ? [toTerm(parsed.output)] : []
  })
  if (terms.length === 0)
    return missing(
      `no offer in ${where} has scheme, network, asset, payTo and a whole-number amount`,
    )
  return { found: true, version, terms, isCut: accepts.length > MAX_TERMS }
}

function toTerm(offer: v.InferOutput<typeof OfferSchema>): PaymentTerm {
  const network = toCaip2(offer.network)
  const amount = offer.amount ?? offer.maxAmountRequired ?? ''
  const { scheme, asset, payTo, maxTimeoutSeconds, extra } = offer
  const accept = v.safeParse(AcceptSchema, {
    ...{ scheme, network, asset, amount, payTo, maxTimeoutSeconds },
    ...present({ extra: extra ?? undefined }),
  })
  return {
    rail: 'x402',
    scheme,
    network,
    // Any other scheme's amount is a ceiling, not a price.
    usd: scheme === 'exact' ? toUsd(network, asset, amount) : null,
    payout: toPayout(network, payTo),
    ...(accept.success && { accept: accept.output }),
  }
}

function missing(saw: string): ReadTerms {
  return { found: false, saw }
}

/** From bazaar of x402 version 2, `outputSchema` of 1; invalid parts are left out. */
type SeenInput = Pick<Operation, 'params' | 'body'>

/** Sellers' names for the query. */
const QUERY = ['queryParams', 'query_params', 'query', 'params']
const MAX_PARAMS = 40
/** Nobody reads a larger description of an input. */
const BOUNDS = { depth: 16, nodes: 2000, characters: 30_000 } as const

/** Including the output. @param url the probed address */
function readX402Shapes(
  answer: ProbeAnswer,
  url: string,
): Pick<Operation, 'params' | 'body' | 'response'> {
  const header = headerOf(answer, 'payment-required')
  const said = header === undefined ? jsonOf(answer) : parseBase64Json(header)
  const { method: _, ...input } = toSeenInput(said)
  const output = toSeenOutput(said)
  return { ...input, ...(output !== null && { response: { ...output, ref: url } }) }
}

/** The same for anything in the form of a 402's terms, such as a row of a discovery answer. */
export function toSeenInput(said: unknown): SeenInput & { method?: unknown } {
  const bazaar = memberOf(memberOf(said, 'extensions'), 'bazaar')
  const accepts = isJsonObject(said) && Array.isArray(said.accepts) ? said.accepts : []
  const input = isJsonObject(bazaar)
    ? memberOf(memberOf(bazaar, 'info'), 'input')
    : memberOf(memberOf(accepts[0], 'outputSchema'), 'input')
  // Version 2 has examples with their schema next to them.
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
  const required = isJsonObject(shape) && Array.isArray(shape.required) ? shape.required : []
  const names = [...Object.keys(toRecord(values)), ...Object.keys(toRecord(described))]
  // A name with a special meaning in code is not a parameter.
  const own = [...new Set(names)].filter((name) => name !== '__proto__')
  return own.slice(0, MAX_PARAMS).flatMap((name) => {
    const value = toRecord(values)[name]
    const field = toField(toRecord(described)[name] ?? (isJsonObject(value) ? value : undefined))
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
  const entries = Object.entries(fields).slice(0, MAX_PARAMS)
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

/** The most complete of several valid readings. */
function firstValid<Schema extends v.GenericSchema>(
  schema: Schema,
  readings: readonly unknown[],
): v.InferOutput<Schema>[] {
  for (const reading of readings) {
    const parsed = v.safeParse(schema, reading)
    if (parsed.success) return [parsed.output]
  }
  return []
}

function toRecord(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {}
}

const MEDIA_TYPES: Record<string, string> = { json: 'application/json', text: 'text/plain' }

/**
 * The output according to a 402, or a row of a discovery answer: bazaar's `info.output` of x402
 * version 2, `outputSchema.output` of 1. Null where nothing valid is there.
 */
export function toSeenOutput(said: unknown): NonNullable<Operation['response']> | null {
  const bazaar = memberOf(memberOf(said, 'extensions'), 'bazaar')
  const accepts = memberOf(said, 'accepts')
  const first = Array.isArray(accepts) ? accepts[0] : undefined
  const reading = isJsonObject(bazaar)
    ? readVersion2(bazaar)
    : readVersion1(memberOf(memberOf(first, 'outputSchema'), 'output'))
  if (reading === null || !isWithin(reading, BOUNDS)) return null
  const { schema, example } = reading
  const isFitting = schema === undefined || findValueFault(schema, example) === null
  const { example: _, ...plain } = reading
  for (const each of isFitting ? [reading, plain] : [plain]) {
    const parsed = v.safeParse(PayloadSchema, each)
    if (parsed.success) return parsed.output
  }
  return null
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

/** A JSON Schema. Lists of names and sentences are in use too, but are ambiguous. */
function readVersion1(output: unknown): Reading | null {
  if (!isJsonObject(output) || !isShape(output)) return null
  const { example, ...schema } = output
  return present({ schema, example })
}

/** A schema that says more than that it is an object. */
function isShape({ type, properties, items }: Record<string, unknown>): boolean {
  if (isJsonObject(properties)) return Object.keys(properties).length > 0
  return type === 'array' ? isJsonObject(items) : type === 'string' || type === 'number'
}

function toMediaType(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined
  return MEDIA_TYPES[name] ?? (name.includes('/') ? name.toLowerCase() : undefined)
}
