import { isJsonObject } from '../wire/parse-json.ts'
import { resolveReference } from './schema-fault.ts'

/** A shape deeper, longer or larger than this helps no caller: it is left open there. */
const MAX_DEPTH = 8
const MAX_NODES = 1000

/**
 * A schema of an OpenAPI document as one that holds by itself: its references are filled in, and
 * 3.0's `nullable` becomes a type. Recursive references are left open.
 *
 * @param document what references start from
 */
export function inlineSchema(schema: unknown, document: unknown): Record<string, unknown> {
  const budget = { left: MAX_NODES }
  const inlined = inline(schema, { document, depth: 0, budget, above: [] })
  return isJsonObject(inlined) ? inlined : {}
}

interface Place {
  document: unknown
  depth: number
  budget: { left: number }
  /** References that are being filled in. */
  above: readonly string[]
}

function inline(value: unknown, place: Place): unknown {
  place.budget.left -= 1
  if (typeof value !== 'object' || value === null) return value
  if (place.depth > MAX_DEPTH || place.budget.left < 0) return Array.isArray(value) ? [] : {}
  const inside = { ...place, depth: place.depth + 1 }
  if (Array.isArray(value)) return value.map((each) => inline(each, inside))
  const { $ref: reference, ...rest } = Object.fromEntries(Object.entries(value))
  if (typeof reference === 'string') {
    if (place.above.includes(reference)) return {}
    const found = resolveReference(place.document, reference)
    return inline(found ?? {}, { ...place, above: [...place.above, reference] })
  }
  const members = Object.entries(rest).map(([name, member]) => [name, inline(member, inside)])
  return withNull(Object.fromEntries(members))
}

function withNull({ nullable, ...schema }: Record<string, unknown>): Record<string, unknown> {
  const isOfType = nullable === true && typeof schema.type === 'string'
  // A property may also be called `nullable`; then it is an object.
  if (nullable !== undefined && typeof nullable !== 'boolean') return { ...schema, nullable }
  if (!isOfType) return schema
  const choices = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}
  return { ...schema, type: [schema.type, 'null'], ...choices }
}
