/** What walks a value by calling itself would run out of stack far beyond this. */
export const MOST_NESTED = 200

/** Undefined for text that is not JSON or is nested too deeply: a schema says the rest. */
export function parseJson(text: string): unknown {
  try {
    const { depth } = measureJson(text, { ...UNBOUNDED, depth: MOST_NESTED })
    if (depth > MOST_NESTED) return undefined
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface JsonBounds {
  depth: number
  values: number
}

const UNBOUNDED: JsonBounds = {
  depth: Number.POSITIVE_INFINITY,
  values: Number.POSITIVE_INFINITY,
}

export type JsonShape = ReturnType<typeof measureJson>

/**
 * How deep JSON is nested, how many values it has, and how many its outermost list has: counted on the
 * text, before anything is made of it. Brackets and commas inside of strings are none. Counting ends
 * where a count passes its bound: a megabyte of brackets is not worth reading to its end.
 *
 * @example measureJson('[{"a":"]"},{}]') → { depth: 2, values: 5, items: 2 }
 */
export function measureJson(text: string, most: JsonBounds = UNBOUNDED) {
  let [depth, deepest, values, commas] = [0, 0, 1, 0]
  const isWithin = () => deepest <= most.depth && values <= most.values
  for (let at = 0; at < text.length && isWithin(); at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
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
  return { depth: deepest, values, items: /^\s*\[/.test(text) ? commas + 1 : 0 }
}

const [QUOTE, BACKSLASH, COMMA] = [34, 92, 44]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at += 1
    else if (code === QUOTE) return at
  }
  return text.length
}

/** The members that are there. @example present({ a: 1, b: undefined }) → { a: 1 } */
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

/** An object's own member; undefined where the value is no object. */
export function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}
