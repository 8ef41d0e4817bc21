import type { Tool } from '../../listing/tools-and-skills.ts'
import { isJsonObject, present } from '../../wire/parse-json.ts'
import type { Finding } from '../read/finding.ts'

/** Members of a schema that hold further schemas under names of the seller's own choice. */
const NAMED = new Set([
  'properties',
  '$defs',
  'definitions',
  'patternProperties',
  'dependentSchemas',
])

/** Keywords a call must satisfy. The rest of a schema is documentation. */
const FACTS = new Set(
  `type properties required items prefixItems enum const format pattern default minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems
  minProperties maxProperties additionalProperties patternProperties propertyNames anyOf oneOf allOf
  not if then else $defs definitions $ref dependentSchemas dependentRequired contains`.split(/\s+/),
)

/** A default or choice longer than this is the seller's prose. */
const MAX_VALUE = 80

/** A finding without the sentences of a seller: names, parameters, types and hints stay. */
export function toFacts(finding: Finding): Finding {
  const { sight } = finding
  if (sight === undefined) return finding
  const tools = sight.tools?.map(toToolFacts)
  const skills = sight.skills?.map(({ id, name }) => ({ id, name, description: name }))
  return { ...finding, sight: { ...sight, ...present({ tools, skills }) } }
}

/** @example toToolFacts({ name: 'find', description: 'Finds…', … }) → { name: 'find', description: 'find', … } */
export function toToolFacts({ title: _, ...tool }: Tool): Tool {
  return { ...tool, description: tool.name, input_schema: toSchemaFacts(tool.input_schema) }
}

/** A JSON Schema without its texts; it accepts the same values. */
export function toSchemaFacts(schema: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (!FACTS.has(key) || (key === 'default' && JSON.stringify(value).length > MAX_VALUE))
        return []
      return [[key, NAMED.has(key) && isJsonObject(value) ? toNamed(value) : toValue(key, value)]]
    }),
  )
}

function toNamed(schemas: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, value]) => [
      name,
      isJsonObject(value) ? toSchemaFacts(value) : value,
    ]),
  )
}

function toValue(key: string, value: unknown): unknown {
  if (key === 'default' || key === 'const' || key === 'enum') return value
  if (Array.isArray(value)) return value.map((each) => toValue(key, each))
  return isJsonObject(value) ? toSchemaFacts(value) : value
}
