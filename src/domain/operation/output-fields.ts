import { resolveReference } from '../json-schema/json-schema.ts'
import type { Operation } from '../listing/listing-facts.ts'
import { isJsonObject } from '../wire/json.ts'

/** How many names of a nested object are shown. */
const MAX_INNER = 6
const MAX_DEPTH = 4

export interface OutputField {
  name: string
  type: string
}

type Response = NonNullable<Operation['response']>
type Schema = Readonly<Record<string, unknown>>

/**
 * The outer fields of an answer, by its schema or, without one, by its example.
 *
 * @example toOutputFields({ …, example: { results: [{ url: '…', score: 1 }] } })
 *   → [{ name: 'results', type: '[{url, score}]' }]
 */
export function toOutputFields({ schema, example }: Response): OutputField[] {
  const ofSchema = schema === undefined ? [] : fieldsOf(schema, schema)
  return ofSchema.length > 0 ? ofSchema : fieldsOf(toShape(example, 0), {})
}

export function isJsonPayload({ content_type }: Pick<Response, 'content_type'>): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(content_type)
}

function fieldsOf(schema: unknown, root: unknown): OutputField[] {
  const { properties, items } = toWhole(schema, root)
  if (items !== undefined)
    return fieldsOf(items, root).map(({ name, type }) => ({ name: `[].${name}`, type }))
  return Object.entries(properties ?? {}).map(([name, field]) => ({
    name,
    type: typeOf(field, root),
  }))
}

function typeOf(schema: unknown, root: unknown): string {
  const { type, properties, items } = toWhole(schema, root)
  if (items !== undefined) return `[${typeOf(items, root)}]`
  const names = Object.keys(properties ?? {})
  if (names.length === 0) return type
  return `{${names.slice(0, MAX_INNER).join(', ')}${names.length > MAX_INNER ? ', …' : ''}}`
}

/** A schema merged with its reference and its parts, as far as fields go. */
function toWhole(schema: unknown, root: unknown, depth = 0) {
  const own: Schema = isJsonObject(schema) ? schema : {}
  const { $ref: reference, allOf, oneOf, anyOf } = own
  const named = typeof reference === 'string' ? [resolveReference(root, reference)] : []
  const all = Array.isArray(allOf) ? allOf : []
  const [choice] = [oneOf, anyOf].filter(Array.isArray).flat()
  const inside: { properties?: Schema; items?: unknown; type: string }[] =
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
    type: types.length > 0 ? types.join(' or ') : (inside[0]?.type ?? 'any'),
  }
}

/** A schema of one value's types. */
function toShape(value: unknown, depth: number): Schema {
  if (value === null || value === undefined || depth > MAX_DEPTH) return {}
  if (Array.isArray(value)) return { type: 'array', items: toShape(value[0], depth + 1) }
  if (!isJsonObject(value)) return { type: typeof value }
  const entries = Object.entries(value).map(([name, each]) => [name, toShape(each, depth + 1)])
  return { type: 'object', properties: Object.fromEntries(entries) }
}
