import { type Schema, Validator } from '@cfworker/json-schema'
import { countNodes, findSchemaFault, resolveReference } from './schema-fault.ts'

/** Schemas are read by the validator and never compiled, so that nothing foreign becomes code. */

/** Schema values times example values times references: the limit of one check. */
const MAX_COST = 20_000_000

/** The longest text a pattern is tried on. */
const MAX_TEXT_LENGTH = 4000

/**
 * @returns where and how a value departs from a schema, or null when it fits.
 * @example findValueFault({ type: 'object', required: ['q'] }, {}) → 'expected what the schema says: Instance does not have required property "q".'
 */
export function findValueFault(schema: unknown, value: unknown): string | null {
  const fault = findSchemaFault(schema)
  if (fault !== null) return fault
  if (hasPattern(schema) && hasLongText(value))
    return `expected no text over ${MAX_TEXT_LENGTH} characters`
  const size = countNodes(schema, 0) * countNodes(value, 0)
  if (size > MAX_COST || size * countReferences(schema, value) > MAX_COST)
    return 'expected a smaller example, or a schema with fewer references to follow for it'
  return judge(schema, value)
}

function judge(schema: unknown, value: unknown): string | null {
  // The validator writes marks into its schema. `findSchemaFault` has checked it.
  const own = structuredClone(schema) as Schema
  try {
    const { valid, errors } = new Validator(own, '2020-12').validate(value)
    if (valid) return null
    const deepest = errors.at(-1)
    const place = deepest === undefined ? '' : deepest.instanceLocation.replace(/^#\/?/, '')
    return `expected what the schema says${place === '' ? '' : ` at ${place}`}: ${deepest?.error ?? 'it does not match'}`
  } catch {
    return 'expected a schema that can be judged; this one refers to itself without end'
  }
}

/** An upper bound: chains of references double at each step, cycles at each level of the value. */
function countReferences(schema: unknown, value: unknown): number {
  const known = new Map<unknown, number>()
  let isCyclic = false
  const count = (place: unknown): number => {
    const found = known.get(place)
    if (found !== undefined) {
      if (found === IN_PROGRESS) isCyclic = true
      return Math.max(1, found)
    }
    known.set(place, IN_PROGRESS)
    const total = referencesIn(place).reduce(
      (sum, reference) => Math.min(MAX_COST, sum + count(resolveReference(schema, reference))),
      1,
    )
    known.set(place, total)
    return total
  }
  const once = count(schema)
  return isCyclic ? once ** depthOf(value) : once
}

const IN_PROGRESS = 0

function referencesIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  )
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return 1 + Object.values(value).reduce<number>((most, each) => Math.max(most, depthOf(each)), 0)
}

/** Without a limit, a text can have any length. */
function hasPattern(schema: unknown): boolean {
  return /"pattern(?:Properties)?":/.test(JSON.stringify(schema))
}

function hasLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > MAX_TEXT_LENGTH
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongText)
}
