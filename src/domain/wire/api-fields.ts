import * as v from 'valibot'

type Schema = Record<string, unknown>
const AnySchema = v.record(v.string(), v.unknown())
const SchemaListSchema = v.array(AnySchema)
const ObjectSchema = v.object({
  properties: v.record(v.string(), AnySchema),
  required: v.optional(v.array(v.string()), []),
})

/** The fields of a JSON Schema object, one level deep; none for anything else. */
export function toSchemaFields(schema: Schema) {
  const parsed = v.safeParse(ObjectSchema, schema)
  if (!parsed.success) return []
  const { properties, required } = parsed.output
  return Object.entries(properties).map(([name, property]) => ({
    name,
    place: 'body',
    type: toTypeText(property),
    text: typeof property.description === 'string' ? property.description : '',
    isRequired: required.includes(name),
  }))
}

/**
 * @example toTypeText({ type: 'integer', minimum: 1, maximum: 50, default: 20 }) → 'integer, 1 to 50, default 20'
 */
export function toTypeText(schema: Schema): string {
  const { minimum, maximum } = schema
  const parts = [toBaseText(schema)]
  if (minimum !== undefined && typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER)
    parts.push(`${minimum} to ${maximum}`)
  else if (minimum !== undefined) parts.push(`at least ${minimum}`)
  if (schema.default !== undefined) parts.push(`default ${String(schema.default)}`)
  return parts.join(', ')
}

function toBaseText(schema: Schema): string {
  const { type, items } = schema
  if (v.is(v.array(v.string()), schema.enum)) return `one of ${schema.enum.join(', ')}`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const choices = schema.anyOf ?? schema.oneOf
  if (v.is(SchemaListSchema, choices)) return [...new Set(choices.map(toBaseText))].join(' or ')
  if (v.is(AnySchema, items)) return `list of ${toBaseText(items)}`
  return typeof type === 'string' ? type : 'any'
}
