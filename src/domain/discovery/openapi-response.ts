import * as v from 'valibot'
import { inlineSchema } from '../json-schema/inline-schema.ts'
import { resolveReference } from '../json-schema/schema-fault.ts'
import { findValueFault } from '../json-schema/value-fault.ts'
import { type Operation, PayloadSchema } from '../listing/operation.ts'
import { isJsonObject } from '../wire/parse-json.ts'

type Response = NonNullable<Operation['response']>

/** A longer example is a data set (characters of JSON). */
const MAX_EXAMPLE = 4000

/**
 * What a good answer of an OpenAPI operation is. An example that violates its own schema is left
 * out: callers check answers by the schema.
 *
 * @param document what references start from
 * @param ref its address
 */
export function readOpenApiResponse(
  operation: Record<string, unknown>,
  document: unknown,
  ref: string,
): Response | undefined {
  const responses = toObject(operation.responses)
  const status = ['200', '201', '202', '203', '2XX', '2xx', 'default'].find((each) =>
    Object.hasOwn(responses, each),
  )
  if (status === undefined) return undefined
  const content = toObject(dereference(responses[status], document).content)
  const types = Object.keys(content)
  const type = types.find((each) => /^application\/(?:[\w.-]+\+)?json\b/.test(each)) ?? types[0]
  if (type === undefined) return undefined
  const media = dereference(content[type], document)
  const schema = isJsonObject(media.schema) ? inlineSchema(media.schema, document) : undefined
  const example = readExample(media, document)
  const isFitting =
    example !== undefined && (schema === undefined || findValueFault(schema, example) === null)
  const content_type = type.split(';')[0]?.trim().toLowerCase()
  for (const reading of [
    { content_type, ...(schema && { schema }), ...(isFitting && { example }) },
    { content_type },
  ]) {
    const parsed = v.safeParse(PayloadSchema, reading)
    if (parsed.success) return { ...parsed.output, ref }
  }
  return undefined
}

/** The media type's own, else the first of its named ones, else the schema's. */
function readExample(media: Record<string, unknown>, document: unknown): unknown {
  const [named] = Object.values(toObject(media.examples))
  const ofSchema = dereference(media.schema, document).example
  const example = media.example ?? dereference(named, document).value ?? ofSchema
  const size = example === undefined ? 0 : (JSON.stringify(example)?.length ?? 0)
  return size > MAX_EXAMPLE ? undefined : example
}

function dereference(value: unknown, document: unknown): Record<string, unknown> {
  const object = toObject(value)
  const { $ref: reference } = object
  return typeof reference === 'string' ? toObject(resolveReference(document, reference)) : object
}

function toObject(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {}
}
