/** Deepest nesting that is parsed; recursion would run out of stack only far deeper. */
export const MOST_NESTED = 200

/** Undefined for text that is not JSON or is nested too deeply. Callers check the value with a schema. */
export function parseJson(text: string): unknown {
  try {
    return isShallow(text) ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

/** Most texts have too few brackets to be deep; this check takes a tenth of the time that counting bytes takes. */
function isShallow(text: string): boolean {
  let left = MOST_NESTED
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at >= 0 && left >= 0; at = text.indexOf(bracket, at + 1))
      left -= 1
  if (left >= 0) return true
  const measure = createJsonMeasure({ depth: MOST_NESTED, values: Number.POSITIVE_INFINITY })
  return measure.add(encoder.encode(text))
}

const encoder = new TextEncoder()

interface JsonBounds {
  depth: number
  values: number
}

/** How deep JSON is nested, how many values it has, and how many its outermost list has. */
export interface JsonShape extends JsonBounds {
  items: number
}

interface JsonMeasure {
  /** Counts the next bytes. @returns false once a count exceeds its limit: then counting ends */
  add(bytes: Uint8Array): boolean
  shape(): JsonShape
}

/**
 * Measures the bytes as they arrive, before parsing. Brackets and commas inside strings are
 * ignored. Counting ends once a count exceeds its limit: nobody needs to read a megabyte of
 * brackets to its end.
 * @example '[{"a":"]"},{}]' has the shape { depth: 2, values: 5, items: 2 }
 */
export function createJsonMeasure(most: JsonBounds): JsonMeasure {
  let [depth, deepest, values, commas] = [0, 0, 1, 0]
  let [isInString, isEscaped] = [false, false]
  let first: number | undefined
  const isWithin = () => deepest <= most.depth && values <= most.values
  const count = (code: number) => {
    if (code === QUOTE) isInString = true
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1
      values += 1
      deepest = Math.max(deepest, depth)
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1
    else if (code === COMMA) {
      values += 1
      if (depth === 1) commas += 1
    }
  }
  return {
    add(bytes) {
      first ??= bytes.find((code) => !BLANKS.includes(code))
      for (let at = 0; at < bytes.length && isWithin(); at += 1) {
        const code = bytes[at] ?? 0
        if (!isInString) count(code)
        else if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) isInString = false
      }
      return isWithin()
    },
    shape: () => ({ depth: deepest, values, items: first === OPEN_LIST ? commas + 1 : 0 }),
  }
}

const [QUOTE, BACKSLASH, COMMA] = [34, 92, 44]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]
const BLANKS = [32, 9, 10, 13]

/** The defined members. @example present({ a: 1, b: undefined }) → { a: 1 } */
export function present<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> }
export function present(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** A JSON object, not a list and not null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is an object; else an object without members. */
export function objectOf(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {}
}

/** The value if it is a list; else an empty list. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** An object's own member; undefined if the value is not an object. */
export function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/**
 * RFC 8785: members by their UTF-16 units, no spaces, numbers as JavaScript writes them. The text
 * is written directly, since an object would put keys that look like numbers first.
 * @example toCanonicalJson({ b: 1, 10: 2, 9: [null] }) → '{"10":2,"9":[null],"b":1}'
 */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null'
  let members = ''
  for (const name of Object.keys(value).sort()) {
    const member = value[name]
    if (member === undefined) continue
    members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${toCanonicalJson(member)}`
  }
  return `{${members}}`
}

/**
 * The largest of any number of values. `Math.max(...values)` overflows the stack at some 120,000 values.
 * @param least result for no values, and the minimum of any result
 */
export function largestOf(values: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let largest = least
  for (const value of values) largest = Math.max(largest, value)
  return largest
}

/** The smallest of any number of values; infinity for none. */
export function smallestOf(values: Iterable<number>): number {
  let smallest = Number.POSITIVE_INFINITY
  for (const value of values) smallest = Math.min(smallest, value)
  return smallest
}

/** Orders texts by their code units, for `sort`. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** The first item with each name, in the items' order. */
export function eachOnce<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  return [...Map.groupBy(items, nameOf).values()].flatMap(([first]) => first ?? [])
}

/** Longest payment header that is parsed; the relay passes on none that is longer. */
export const MOST_HEADER = 128 * 1024

/**
 * @param maxLength the most characters of the encoded text; longer texts are not decoded
 * @returns undefined if the text is not JSON in base64 or base64url
 */
export function parseBase64Json(text: string | undefined, maxLength = MOST_HEADER): unknown {
  if (text === undefined || text.length > maxLength) return undefined
  try {
    return parseJson(decoder.decode(fromBase64(text)))
  } catch {
    return undefined
  }
}

const decoder = new TextDecoder()

/** @throws if the text is neither base64 nor base64url */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim().replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = new Uint8Array(binary.length)
  // `Uint8Array.from` walks a string character by character, which takes ten times as long.
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index)
  return bytes
}

/** Text or bytes in base64, of any length: the bytes are never spread as arguments. */
export function toBase64(data: string | Uint8Array): string {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

export function toBase64Url(data: string | Uint8Array): string {
  return toBase64(data).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** The first rule that distinguishes two items decides their order. */
export function inOrder<Item>(rules: readonly ((a: Item, b: Item) => number)[]) {
  return (a: Item, b: Item): number => {
    for (const compare of rules) {
      const order = compare(a, b)
      if (order !== 0) return order
    }
    return 0
  }
}
