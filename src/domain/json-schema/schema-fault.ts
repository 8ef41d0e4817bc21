import { isJsonObject } from '../wire/parse-json.ts'

/** Foreign text that we run: references stay inside, patterns end quickly, size is bounded. */
const MAX_NODES = 2000
const MAX_DEPTH = 32
const MAX_PATTERN_LENGTH = 200
/** Each unbounded repetition multiplies the time of a failing match by the text's length. */
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

/** Types of keywords' values; other keywords are annotations and are ignored. */
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
 * @returns what is wrong with a schema, or null.
 * @example findSchemaFault({ $ref: 'https://x.example/a' }) → 'expected $ref to stay in this schema (#/$defs/…), got "https://x.example/a"'
 */
export function findSchemaFault(schema: unknown): string | null {
  if (!isJsonObject(schema)) return 'expected a JSON Schema: an object'
  if (countNodes(schema, 0) > MAX_NODES)
    return `expected a schema of at most ${MAX_NODES} values, ${MAX_DEPTH} deep`
  return findFault(schema, schema)
}

/** The part of a schema that a local reference names, if it exists. */
export function resolveReference(root: unknown, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .map((part) => unescapePointer(part))
    .reduce<unknown>(
      (place, key) =>
        typeof place === 'object' && place !== null && key !== null && Object.hasOwn(place, key)
          ? Reflect.get(place, key)
          : undefined,
      root,
    )
}

/** Every subschema with its keyword and, for maps, its name. */
function childrenOf(schema: object): unknown[] {
  const entries = Object.entries(schema)
  return entries.flatMap(([keyword, value]) => {
    if (ONE.includes(keyword)) return [value]
    if (LISTS.includes(keyword)) return Array.isArray(value) ? value : [null]
    if (MAPS.includes(keyword)) return isJsonObject(value) ? Object.values(value) : [null]
    return []
  })
}

export function countNodes(value: unknown, depth: number): number {
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
    : `expected $ref to stay in this schema (#/$defs/…), got ${JSON.stringify(reference)}`
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

/** Patterns that can take exponential time are refused; others get few unbounded repetitions. */
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
    ? `expected a pattern that always ends quickly, got ${JSON.stringify(pattern)}`
    : null
}

function unescapePointer(part: string): string | null {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return null
  }
}
