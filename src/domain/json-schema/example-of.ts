import { isJsonObject } from '../wire/parse-json.ts'
import { resolveReference } from './schema-fault.ts'
import { findValueFault } from './value-fault.ts'

const MAX_DEPTH = 8
/** A schema that refers to itself ten times a level would fill memory. */
const MAX_VALUES = 500
const MAX_ITEMS = 20

/** A value nobody can guess, recognisable as such: `<CITY>`. */
export function toPlaceholder(name: string): string {
  const word = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/\W+/g, '_')
    .replace(/^_+|_+$/g, '')
  return `<${word === '' ? 'VALUE' : word.toUpperCase()}>`
}

/**
 * What its author gave as example, default, constant or choice, else what is required, with
 * `<PLACEHOLDER>`s for text. Undefined where no example fits the schema.
 */
export function exampleOf(schema: unknown, name: string): unknown {
  const value = build(schema, { root: schema, name, depth: 0, budget: { left: MAX_VALUES } })
  return value === undefined || findValueFault(schema, value) !== null ? undefined : value
}

interface Place {
  root: unknown
  name: string
  depth: number
  /** Budget shared by every part of one example. */
  budget: { left: number }
}

function build(schema: unknown, place: Place): unknown {
  if (!isJsonObject(schema) || place.depth > MAX_DEPTH || place.budget.left-- <= 0) return undefined
  if (typeof schema.$ref === 'string')
    return build(resolveReference(place.root, schema.$ref), deeper(place))
  const given = givenBy(schema)
  if (given !== undefined) return given
  const choice = [schema.oneOf, schema.anyOf].find(Array.isArray)
  if (choice !== undefined) return build(choice[0], deeper(place))
  return buildType(schema, place)
}

function givenBy(schema: Record<string, unknown>): unknown {
  const { example, examples, default: fallback, const: only, enum: choices } = schema
  if (example !== undefined) return example
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if (fallback !== undefined && fallback !== null) return fallback
  if (only !== undefined) return only
  return Array.isArray(choices) ? choices[0] : undefined
}

function buildType(schema: Record<string, unknown>, place: Place): unknown {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (type ?? (isJsonObject(schema.properties) ? 'object' : undefined)) {
    case 'object':
      return buildObject(schema, place)
    case 'array': {
      const length = typeof schema.minItems === 'number' ? schema.minItems : 0
      if (length > MAX_ITEMS) return undefined
      return Array.from({ length }, () => build(schema.items, deeper(place)))
    }
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return FORMATS[String(schema.format)] ?? toPlaceholder(place.name)
  }
}

function buildObject(schema: Record<string, unknown>, place: Place): unknown {
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.fromEntries(
    required.map((name: string) => [
      name,
      build(Object.hasOwn(properties, name) ? properties[name] : {}, { ...deeper(place), name }),
    ]),
  )
}

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  email: 'somebody@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

function deeper(place: Place): Place {
  return { ...place, depth: place.depth + 1 }
}
