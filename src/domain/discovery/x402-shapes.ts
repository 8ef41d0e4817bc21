import { findValueFault, isWithin } from '../json-schema/json-schema.ts'
import { type Operation, ParamSchema, PayloadSchema } from '../listing/listing-facts.ts'
import { isJsonObject, memberOf, present } from '../wire/json.ts'
import { firstValid } from '../wire/shapes.ts'

/** From bazaar of x402 version 2, `outputSchema` of 1; invalid parts are left out. */
type X402Input = Pick<Operation, 'params' | 'body'>

/** Sellers' names for the query. */
const QUERY = ['queryParams', 'query_params', 'query', 'params']
const MAX_PARAMS = 40
/** Nobody reads a larger description of an input. */
const BOUNDS = { depth: 16, nodes: 2000, characters: 30_000 } as const

/** Of anything in the form of a 402's terms, such as a row of a discovery answer. */
export function readX402Input(stated: unknown): X402Input & { method?: unknown } {
  const bazaar = memberOf(memberOf(stated, 'extensions'), 'bazaar')
  const accepts = isJsonObject(stated) && Array.isArray(stated.accepts) ? stated.accepts : []
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

function toRecord(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {}
}

const MEDIA_TYPES: Record<string, string> = { json: 'application/json', text: 'text/plain' }

/**
 * The output according to a 402, or a row of a discovery answer: bazaar's `info.output` of x402
 * version 2, `outputSchema.output` of 1. Null where nothing valid is there.
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
