import * as v from 'valibot'
import { findValueFault } from '../../json-schema/value-fault.ts'
import { type Operation, PayloadSchema } from '../../listing/operation.ts'
import { isJsonObject, memberOf, present } from '../../wire/parse-json.ts'
import { isWithin } from './bounded-json.ts'

/** A larger answer is a data set. */
const BOUNDS = { depth: 16, nodes: 2000, characters: 30_000 } as const

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
