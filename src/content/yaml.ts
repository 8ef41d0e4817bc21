import { CORE_SCHEMA, floatCoreTag, intCoreTag, load, NOT_RESOLVED, YAMLException } from 'js-yaml'
import { type Document, isMap, isNode, LineCounter, parseDocument } from 'yaml'

/**
 * The YAML that content may use: core schema, unique keys, no aliases, tags or merge keys. Content
 * is foreign text, and all that is excluded has been used to run code, exhaust memory or mislead.
 *
 * Known limitations: a text's size is limited where the text is read, not here.
 */
export interface YamlFault {
  /** 1-based line within the text. */
  line: number
  message: string
}

type YamlResult = { ok: true; value: unknown } | { ok: false; fault: YamlFault }

/** Numbers that readers understand differently: to YAML `012` is twelve, to a C programmer ten. */
const ODD_NUMBER = /^[-+]?0[xXoO\d]/

const SCHEMA = CORE_SCHEMA.withTags(
  [intCoreTag, floatCoreTag].map(({ resolve, ...tag }) => ({
    ...tag,
    resolve(source: string, isExplicit: boolean, name: string) {
      const value = resolve(source, isExplicit, name)
      if (value !== NOT_RESOLVED && ODD_NUMBER.test(source)) throw new OddNumber(source)
      return value
    },
  })),
)
class OddNumber extends Error {}

/** Deeper than any front matter; a thousand brackets would overflow a reader's stack. */
const MAX_DEPTH = 40

export function parseYaml(text: string): YamlResult {
  // A text of comments alone has no value; js-yaml would call that an error.
  if (text.split('\n').every((row) => /^\s*(?:#|$)/.test(row))) return { ok: true, value: null }
  try {
    const value = load(text, { schema: SCHEMA, maxAliases: 0, maxDepth: MAX_DEPTH })
    const fault = findForbidden(text)
    return fault === null ? { ok: true, value } : { ok: false, fault }
  } catch (error) {
    return { ok: false, fault: explain(text, error) }
  }
}

/** How js-yaml refuses a text, and what would be right. */
const EXPECTED: readonly (readonly [RegExp, string])[] = [
  [/duplicated mapping key/, 'expected each key once'],
  [/\btag\b/, 'expected no tags (!…): plain values only'],
  [/\baliases\b/, 'expected no aliases (*name): write the value out'],
  [/maxDepth/, `expected at most ${MAX_DEPTH} levels of nesting`],
  [
    /deficient indentation|end of the stream within/,
    'expected the bracket or quote that opens here to be closed',
  ],
]

function explain(text: string, refusal: unknown): YamlFault {
  const rows = text.split('\n')
  if (refusal instanceof OddNumber) {
    const line = rows.findIndex((row) => row.includes(refusal.message)) + 1
    const message = `expected a plain decimal number such as 12 or 0.5, got ${refusal.message}: write text in quotes`
    return { line, message }
  }
  if (!(refusal instanceof YAMLException)) throw refusal
  const { reason, mark } = refusal
  const line = (mark?.line ?? 0) + 1
  if (/^ *\t/.test(rows[line - 1] ?? ''))
    return { line, message: 'expected spaces before the text, got a tab' }
  const known = EXPECTED.find(([pattern]) => pattern.test(reason))?.[1]
  return { line, message: known ?? `expected valid YAML: ${reason}` }
}

/** Finds the lines of fields in YAML or JSON text, for messages. The text is parsed once, at the first call. */
export function createLineFinder(text: string): LineFinder {
  const lines = new LineCounter()
  const keys = new Map<unknown, Map<unknown, unknown>>()
  let document: Document | undefined
  return (path, isKey = false) => {
    // Comparing each key with all others would take seconds, or minutes, for thousands of keys.
    document ??= parseDocument(text, { uniqueKeys: false, lineCounter: lines })
    const map = isKey ? document.getIn(path.slice(0, -1), true) : undefined
    if (isMap(map) && !keys.has(map))
      keys.set(map, new Map(map.items.map(({ key }) => [Object(key).value, key])))
    const own = keys.get(map)?.get(path.at(-1))
    const places = path.map((_, depth) => path.slice(0, path.length - depth))
    const nodes = own ? [own] : places.map((place) => document?.getIn(place, true))
    for (const node of nodes)
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
    return 1
  }
}

/**
 * @param path keys and list positions from a schema issue; the line is that of the deepest part that exists
 * @param isKey whether the fault is the key itself, whose value may be on the next line
 * @returns a 1-based line
 */
export type LineFinder = (path: readonly (string | number)[], isKey?: boolean) => number

/** `<<` and `__proto__` are keys with a special meaning in some readers; anchors have no use without aliases. */
function findForbidden(text: string): YamlFault | null {
  const pattern =
    /^[ \t]*(?:-[ \t]+)?["']?(<<|__proto__)["']?\s*:|[{,]\s*["']?(<<|__proto__)["']?\s*:/m
  const match = pattern.exec(text)
  if (match === null) return null
  return {
    line: text.slice(0, match.index).split('\n').length,
    message: `expected no key ${match[1] ?? match[2]}`,
  }
}
