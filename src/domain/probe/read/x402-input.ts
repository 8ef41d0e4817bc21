import * as v from 'valibot'
import { type Operation, ParamSchema, PayloadSchema } from '../../listing/operation.ts'
import { parseBase64Json } from '../../relay/base64-json.ts'
import { isJsonObject, memberOf, present } from '../../wire/parse-json.ts'
import { isWithin } from './bounded-json.ts'
import { headerOf, jsonOf, type ProbeAnswer } from './probe-answer.ts'
import { toSeenOutput } from './x402-output.ts'

/** From bazaar of x402 version 2, `outputSchema` of 1; invalid parts are left out. */
export type SeenInput = Pick<Operation, 'params' | 'body'>

/** Sellers' names for the query. */
const QUERY = ['queryParams', 'query_params', 'query', 'params']
const MAX_PARAMS = 40
/** Nobody reads a larger description of an input. */
const BOUNDS = { depth: 16, nodes: 2000, characters: 30_000 } as const

/** Including the output. @param url the probed address */
export function readX402Shapes(
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
