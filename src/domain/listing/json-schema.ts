import { type Schema, Validator } from '@cfworker/json-schema'
import { isJsonObject, objectOf } from '../wire/json.ts'
import { decodePercents } from '../wire/text.ts'

/** Schemas are foreign input that we execute: references stay inside, patterns end quickly, size is bounded. */
const MAX_NODES = 2000
const MAX_DEPTH = 32
const MAX_PATTERN_LENGTH = 200
/** Each unbounded repetition multiplies the time for a failing match by the length of the text. */
const MAX_REPEATS = 3

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

const ONE = ['items', 'contains', 'additionalProperties', 'unevaluatedProperties'].concat([
  'unevaluatedItems',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
])
const LISTS = ['prefixItems', 'allOf', 'anyOf', 'oneOf']
const MAPS = ['$defs', 'definitions', 'properties', 'patternProperties', 'dependentSchemas']

/** Keywords that change what a reference means, or name an external schema. */
const REFUSED = ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef']

/** Checks on keywords' values; other keywords are annotations and are ignored. */
const SHAPES: Readonly<Record<string, (value: unknown) => string | null>> = {
  type: (value) =>
    [value].flat().every((type) => typeof type === 'string' && TYPES.includes(type))
      ? null
      : `expected type to be one of ${TYPES.join(', ')}`,
  enum: (value) => (Array.isArray(value) ? null : 'expected enum to be a list'),
  required: (value) =>
    Array.isArray(value) && value.every((name) => typeof name === 'string')
      ? null
      : 'expected required to be a list of names',
  patternProperties: (value) =>
    isJsonObject(value) ? findFirst(Object.keys(value), findPatternFault) : null,
  pattern: (value) =>
    typeof value === 'string' ? findPatternFault(value) : 'expected pattern to be text',
  ...Object.fromEntries(
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']
      .concat(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'])
      .map((name) => [
        name,
        (value: unknown) => (typeof value === 'number' ? null : `expected ${name} to be a number`),
      ]),
  ),
}

/**
 * @returns what is wrong with a schema, or null
 * @example findSchemaFault({ $ref: 'https://x.example/a' }) → 'expected $ref to name a place in this schema
 *   (#/$defs/…), got "https://x.example/a"'
 */
export function findSchemaFault(schema: unknown): string | null {
  if (!isJsonObject(schema)) return 'expected a JSON Schema: an object'
  if (countNodes(schema, 0) > MAX_NODES)
    return `expected a schema of at most ${MAX_NODES} values, nested at most ${MAX_DEPTH} levels deep`
  return findFault(schema, schema)
}

/** The part of a schema that a local reference names; undefined if there is none. */
export function resolveReference(root: unknown, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .map((part) => decodePercents(part)?.replaceAll('~1', '/').replaceAll('~0', '~') ?? null)
    .reduce<unknown>(
      (place, key) =>
        typeof place === 'object' && place !== null && key !== null && Object.hasOwn(place, key)
          ? Reflect.get(place, key)
          : undefined,
      root,
    )
}

/** Every subschema of a schema, including those in maps and lists. */
function childrenOf(schema: object): unknown[] {
  const entries = Object.entries(schema)
  return entries.flatMap(([keyword, value]) => {
    if (ONE.includes(keyword)) return [value]
    if (LISTS.includes(keyword)) return Array.isArray(value) ? value : [null]
    if (MAPS.includes(keyword)) return isJsonObject(value) ? Object.values(value) : [null]
    return []
  })
}

/**
 * Rewrites a schema's keywords, and those of every schema inside it.
 * @param write returns a keyword's new value, from a value whose own schemas are already rewritten;
 *   undefined removes the keyword
 */
export function mapSchema(
  schema: Record<string, unknown>,
  write: (keyword: string, value: unknown, schema: Record<string, unknown>) => unknown,
): Record<string, unknown> {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside)
    return isJsonObject(value) ? mapSchema(value, write) : value
  }
  const named = (value: object) =>
    Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inside(each)]))
  const entries = Object.entries(schema).flatMap(([keyword, value]) => {
    const isNamed = MAPS.includes(keyword) && isJsonObject(value)
    const own = ONE.includes(keyword) || LISTS.includes(keyword) ? inside(value) : value
    const written = write(keyword, isNamed ? named(value) : own, schema)
    return written === undefined ? [] : [[keyword, written]]
  })
  return Object.fromEntries(entries)
}

function countNodes(value: unknown, depth: number): number {
  if (depth > MAX_DEPTH) return MAX_NODES + 1
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const inner of Object.values(value)) {
    count += countNodes(inner, depth + 1)
    if (count > MAX_NODES) return count
  }
  return count
}

function findFault(schema: unknown, root: object): string | null {
  if (typeof schema === 'boolean') return null
  if (!isJsonObject(schema)) return 'expected each subschema to be an object, true or false'
  return (
    findFirst(Object.entries(schema), ([keyword, value]) => findKeywordFault(keyword, value)) ??
    findReferenceFault(schema.$ref, root) ??
    findFirst(childrenOf(schema), (child) => findFault(child, root))
  )
}

function findKeywordFault(keyword: string, value: unknown): string | null {
  if (REFUSED.includes(keyword)) return `expected no ${keyword}: use $ref to a place under $defs`
  return Object.hasOwn(SHAPES, keyword) ? (SHAPES[keyword]?.(value) ?? null) : null
}

function findReferenceFault(reference: unknown, root: object): string | null {
  if (reference === undefined) return null
  return typeof reference === 'string' && resolveReference(root, reference) !== undefined
    ? null
    : `expected $ref to name a place in this schema (#/$defs/…), got ${JSON.stringify(reference)}`
}

function findFirst<Item>(
  items: readonly Item[],
  find: (item: Item) => string | null,
): string | null {
  for (const item of items) {
    const fault = find(item)
    if (fault !== null) return fault
  }
  return null
}

/** Patterns that can take exponential time are refused; all others may have few unbounded repetitions. */
function findPatternFault(pattern: string): string | null {
  if (pattern.length > MAX_PATTERN_LENGTH)
    return `expected a pattern of at most ${MAX_PATTERN_LENGTH} characters`
  try {
    new RegExp(pattern, 'u')
  } catch {
    return `expected a pattern that is a regular expression, got ${JSON.stringify(pattern)}`
  }
  const plain = pattern.replace(/\\(?:[^k1-9])/gu, 'e').replace(/\[(?:[^\]\\]|\\.)*\]/gu, 'c')
  const repeats = plain.match(/[*+]|\{\d+,\}/g) ?? []
  const isSlow =
    /\\[k1-9]/.test(plain) ||
    repeats.length > MAX_REPEATS ||
    /\((?:[^()]|\([^()]*\))*(?:[*+|]|\{\d+,\d*\})(?:[^()]|\([^()]*\))*\)(?:[*+]|\{\d+,?\d*\})/.test(
      plain,
    ) ||
    /\{\d{4,}/.test(plain)
  return isSlow
    ? `expected a pattern that is always matched quickly, got ${JSON.stringify(pattern)}`
    : null
}

/** Schemas are interpreted by the validator and never compiled, so that nothing foreign becomes code. */

/** The limit for one check: schema values times example values times references. */
const MAX_COST = 20_000_000

/** The longest text against which a pattern is tested. */
const MAX_TEXT_LENGTH = 4000

/**
 * @returns where and how a value breaks a schema, or null if it fits
 * @example findValueFault({ type: 'object', required: ['q'] }, {}) → 'expected what the schema
 *   says: Instance does not have required property "q".'
 */
export function findValueFault(schema: unknown, value: unknown): string | null {
  const fault = findSchemaFault(schema)
  if (fault !== null) return fault
  if (hasPattern(schema) && hasLongText(value))
    return `expected no text over ${MAX_TEXT_LENGTH} characters, because the schema has patterns`
  const size = countNodes(schema, 0) * countNodes(value, 0)
  if (size > MAX_COST || size * countReferences(schema, value) > MAX_COST)
    return 'expected a smaller example, or a schema with fewer references to follow'
  return judge(schema, value)
}

function judge(schema: unknown, value: unknown): string | null {
  // The validator writes marks into its schema, so it gets a copy, made in the fastest way to copy
  // JSON. The copy has type `any`; `findSchemaFault` has checked it.
  const own: Schema = JSON.parse(JSON.stringify(schema))
  try {
    const { valid, errors } = new Validator(own, '2020-12').validate(value)
    if (valid) return null
    const deepest = errors.at(-1)
    const place = deepest === undefined ? '' : deepest.instanceLocation.replace(/^#\/?/, '')
    return `expected a value that fits the schema${place === '' ? '' : ` at ${place}`}: ${deepest?.error ?? 'it does not match'}`
  } catch {
    return 'expected a schema that can be judged; this one refers to itself without end'
  }
}

/** An upper bound on the references followed: they may double at each step of a chain, or at each level of a cycle. */
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

/** Whether a schema has patterns: only then is the length of texts limited. */
function hasPattern(schema: unknown): boolean {
  return /"pattern(?:Properties)?":/.test(JSON.stringify(schema))
}

function hasLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > MAX_TEXT_LENGTH
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongText)
}

/**
 * Whether a value is within bounds. Walks with its own list instead of the call stack, so depth
 * costs nothing, and stops at the first bound.
 * @param bounds the limits; `characters` applies to all strings and keys together
 */
export function isWithin(
  whole: unknown,
  bounds: { depth: number; nodes: number; characters: number },
): boolean {
  const waiting: { value: unknown; depth: number }[] = [{ value: whole, depth: 1 }]
  let { nodes, characters } = bounds
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next
    const children = typeof value === 'object' ? Object.entries(value ?? {}) : []
    nodes -= 1
    characters -= lengthOf(value, children)
    if (nodes < waiting.length + children.length || characters < 0) return false
    if (children.length > 0 && depth >= bounds.depth) return false
    for (const [, child] of children) waiting.push({ value: child, depth: depth + 1 })
  }
  return true
}

/** How many characters a string has, or an object's keys. */
function lengthOf(value: unknown, children: readonly [string, unknown][]): number {
  if (typeof value === 'string') return value.length
  return Array.isArray(value) ? 0 : children.reduce((sum, [key]) => sum + key.length, 0)
}

const EXAMPLE_DEPTH = 8
/** Limits for an example: a schema that refers to itself ten times per level would fill memory. */
const MAX_VALUES = 500
const MAX_ITEMS = 20

/** A recognisable placeholder for a value that nobody can guess: `<CITY>`. */
export function toPlaceholder(name: string): string {
  const word = name
    .replace(/([a-z]\d*)([A-Z])/g, '$1_$2')
    .replace(/\W+/g, '_')
    .replace(/^_+|_+$/g, '')
  return `<${word === '' ? 'VALUE' : word.toUpperCase()}>`
}

/**
 * An example value: the author's example, default, constant or choice; failing that, whatever is
 * required, with `<PLACEHOLDER>`s for text. Undefined if no example fits the schema.
 */
export function exampleOf(schema: unknown, name: string): unknown {
  const value = build(schema, { root: schema, name, depth: 0, budget: { left: MAX_VALUES } })
  return value === undefined || findValueFault(schema, value) !== null ? undefined : value
}

interface ExamplePlace {
  root: unknown
  name: string
  depth: number
  /** How many more values one example may have, shared by all its parts. */
  budget: { left: number }
}

function build(schema: unknown, place: ExamplePlace): unknown {
  if (!isJsonObject(schema) || place.depth > EXAMPLE_DEPTH || place.budget.left-- <= 0)
    return undefined
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

function buildType(schema: Record<string, unknown>, place: ExamplePlace): unknown {
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

function buildObject(schema: Record<string, unknown>, place: ExamplePlace): unknown {
  const properties = objectOf(schema.properties)
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

function deeper(place: ExamplePlace): ExamplePlace {
  return { ...place, depth: place.depth + 1 }
}
