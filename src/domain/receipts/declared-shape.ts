import { resolveReference } from '../json-schema/schema-fault.ts'
import { isJsonObject } from '../wire/parse-json.ts'
import { isAboutAnswer } from './answer-signs.ts'
import type { DeclaredResponse } from './delivered-answer.ts'

/**
 * Whether a value has the declared shape: members and types, and nothing finer. Patterns, formats,
 * lengths and further members are not part of the shape: an answer with a longer name is still the
 * answer, and a foreign pattern is never run.
 *
 * No validator is used, as it would refuse odd but correct answers (a null where nothing is known,
 * a price as text), and its time grows with a schema's references. Here each step is counted.
 */
const MAX_STEPS = 20_000
const MAX_DEPTH = 32
/** Entries of a list that are checked. */
const MAX_ITEMS = 20
/** The share of an example's members that must be in the answer: 1 of 3. */
const SHARE_OF_EXAMPLE = 3
const MAX_NAME = 40

/** Names of wrappers around an answer that declarations often omit. */
const WRAPPERS = new Set(['data', 'result', 'results', 'response', 'output', 'body', 'payload'])

/** @returns where and how it differs, in the declaration's own names; null where it fits */
export function findDeclaredFault(declared: DeclaredResponse, value: unknown): string | null {
  const fault = findFault(declared, value)
  if (fault === null || !isJsonObject(value)) return fault
  for (const [name, inner] of Object.entries(value))
    if (WRAPPERS.has(name) && findFault(declared, inner) === null) return null
  return fault
}

function findFault({ schema, example }: DeclaredResponse, value: unknown): string | null {
  const byExample = () => (example === undefined ? null : findExampleFault(example, value))
  if (schema === undefined) return byExample()
  const fault = judge(schema, value)
  // A declaration that contradicts its own example is not applied: either may be right.
  const contradicts = example !== undefined && judge(schema, example) !== null
  return fault !== null && contradicts ? byExample() : fault
}

function judge(schema: unknown, value: unknown): string | null {
  return visit(schema, value, { root: schema, path: '', depth: 0, budget: { left: MAX_STEPS } })
}

interface Place {
  root: unknown
  path: string
  depth: number
  /** Budget shared by all steps of one judgement; anything unchecked when it runs out passes. */
  budget: { left: number }
  /** One of several parts of a shape: an answer may have none of its members. */
  isPart?: boolean
}

function visit(schema: unknown, value: unknown, place: Place): string | null {
  place.budget.left -= 1
  if (!isJsonObject(schema) || place.budget.left <= 0 || place.depth > MAX_DEPTH) return null
  if (value === null && place.path !== '') return null
  const inside = { ...place, depth: place.depth + 1 }
  if (typeof schema.$ref === 'string')
    return visit(resolveReference(place.root, schema.$ref), value, inside)
  return (
    findTypeFault(schema, value, place) ??
    findChoiceFault(schema, value, inside) ??
    (isJsonObject(value) ? findMemberFault(schema, value, inside) : null) ??
    (Array.isArray(value) ? findItemFault(schema, value, inside) : null)
  )
}

function findTypeFault(schema: Record<string, unknown>, value: unknown, { path }: Place) {
  const types = typesOf(schema)
  return types.length > 0 && !types.some((type) => isOfType(type, value))
    ? toFault(path, `expected ${types.join(' or ')}, got ${typeOf(value)}`)
    : null
}

function typesOf({ type }: Record<string, unknown>): string[] {
  if (typeof type === 'string') return [type]
  return Array.isArray(type) ? type.filter((each) => typeof each === 'string') : []
}

/** Numbers come as text, and text as numbers, from languages with one type for both. */
function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'integer':
    case 'number':
      return typeof value === 'number' || (typeof value === 'string' && isNumeric(value))
    case 'string':
      return typeof value === 'string' || typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean' || value === 0 || value === 1
    default:
      return typeOf(value) === type
  }
}

function isNumeric(text: string): boolean {
  return text.length <= MAX_NAME && text.trim() !== '' && Number.isFinite(Number(text))
}

function findChoiceFault(schema: Record<string, unknown>, value: unknown, place: Place) {
  const { allOf, anyOf, oneOf } = schema
  for (const part of Array.isArray(allOf) ? allOf : []) {
    const fault = visit(part, value, { ...place, isPart: true })
    if (fault !== null) return fault
  }
  // An answer that fits two shapes is just as good.
  for (const choices of [anyOf, oneOf].filter(Array.isArray)) {
    const faults: string[] = []
    for (const choice of choices) {
      const fault = visit(choice, value, place)
      if (fault === null) break
      faults.push(fault)
    }
    if (choices.length > 0 && faults.length === choices.length) return faults[0] ?? null
  }
  return null
}

function findMemberFault(
  schema: Record<string, unknown>,
  value: Record<string, unknown>,
  place: Place,
): string | null {
  const required = Array.isArray(schema.required) ? schema.required : []
  for (const name of required)
    if (typeof name === 'string' && !Object.hasOwn(value, name) && !isAboutAnswer(name))
      return toFault(place.path, `expected a member ${cut(name)}`)
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const names = Object.keys(properties)
  // Most schemas require nothing; an answer without a single one of their members is another one.
  const isOther = names.length > 0 && !names.some((name) => Object.hasOwn(value, name))
  if (isOther && place.isPart !== true && Object.keys(value).length > 0)
    return toFault(place.path, `expected a member such as ${cut(names[0] ?? '')}`)
  for (const [name, inner] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name)) continue
    const fault = visit(inner, value[name], {
      ...place,
      isPart: false,
      path: join(place.path, name),
    })
    if (fault !== null && !isAboutAnswer(name)) return fault
  }
  return null
}

function findItemFault(schema: Record<string, unknown>, value: unknown[], place: Place) {
  for (const item of value.slice(0, MAX_ITEMS)) {
    const fault = visit(schema.items, item, {
      ...place,
      isPart: false,
      path: `${place.path}[]`,
    })
    if (fault !== null) return fault
  }
  return null
}

/** For an example only its type and outer members count: deeper it is one case of many. */
function findExampleFault(example: unknown, value: unknown): string | null {
  const isScalar = typeof example !== 'object' && typeof value !== 'object'
  if (example === null || isScalar) return null
  if (typeOf(example) !== typeOf(value))
    return toFault('', `expected ${typeOf(example)} as in the example, got ${typeOf(value)}`)
  if (!isJsonObject(example) || !isJsonObject(value)) return null
  const names = Object.keys(example)
  const shared = names.filter((name) => Object.hasOwn(value, name))
  return shared.length * SHARE_OF_EXAMPLE < names.length
    ? toFault('', `expected the members of the example, got ${shared.length} of them`)
    : null
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function join(path: string, name: string): string {
  return path === '' ? cut(name) : `${path}.${cut(name)}`
}

function cut(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
}

function toFault(path: string, text: string): string {
  const place = path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path
  return place === '' ? `${text[0]?.toUpperCase()}${text.slice(1)}.` : `At ${place}: ${text}.`
}

const MAX_PATH = 120
