import { CORE_SCHEMA, floatCoreTag, intCoreTag, load, NOT_RESOLVED, YAMLException } from 'js-yaml'
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml'

/**
 * The YAML that content may use: core schema, unique keys, no aliases, no tags, no merge keys. It
 * is foreign text: each of those has been a way to run code, to exhaust memory or to be ambiguous.
 */
export interface YamlFault {
  /** 1-based line within the text. */
  line: number
  message: string
}

export type YamlResult = { ok: true; value: unknown } | { ok: false; faults: YamlFault[] }

const OPTIONS = {
  schema: 'core',
  version: '1.2',
  // The parser holds each key against all before it: thousands of keys would take minutes.
  uniqueKeys: false,
  strict: true,
  merge: false,
  prettyErrors: false,
} as const

/** Numbers that readers take for another one: `012` is twelve to YAML and ten to a C programmer. */
const ODD_NUMBER = /^[-+]?0[xXoO\d]/

const SCHEMA = CORE_SCHEMA.withTags(
  [intCoreTag, floatCoreTag].map(({ resolve, ...tag }) => ({
    ...tag,
    resolve(source: string, isExplicit: boolean, name: string) {
      const value = resolve(source, isExplicit, name)
      if (value !== NOT_RESOLVED && ODD_NUMBER.test(source)) throw new OddNumber()
      return value
    },
  })),
)
class OddNumber extends Error {}

/** Deeper than any front matter; a thousand brackets would overflow the parser's stack. */
const MAX_DEPTH = 20

export function parseYaml(text: string): YamlResult {
  const deep = findTooDeep(text)
  if (deep !== null) return { ok: false, faults: [deep] }
  // A text of comments alone is a value of none; js-yaml calls that an error.
  if (text.split('\n').every((row) => /^\s*(?:#|$)/.test(row))) return { ok: true, value: null }
  try {
    const value = load(text, { schema: SCHEMA, maxAliases: 0 })
    const fault = findForbidden(text)
    return fault === null ? { ok: true, value } : { ok: false, faults: [fault] }
  } catch (error) {
    return { ok: false, faults: explain(text, error) }
  }
}

/** js-yaml reads; what it refuses, `yaml` words: it goes on after an error and knows lines. */
function explain(text: string, refusal: unknown): YamlFault[] {
  const lines = new LineCounter()
  const document = parseDocument(text, { ...OPTIONS, lineCounter: lines })
  const issues: Issue[] = [...document.errors, ...document.warnings, ...findRepeatedKeys(document)]
  // Once the text cannot be read further, later errors of the parser are consequences.
  const broken = issues.filter(({ code }) => !Object.hasOwn(LOCAL_FAULTS, code)).sort(byPlace)[0]
  const rows = text.split('\n')
  const faults = (broken === undefined ? issues : [broken]).map((issue) =>
    toYamlFault(issue, text, { rows, lines }),
  )
  if (faults.length > 0) return faults
  const named = findForbidden(text) ?? findOddNumber(document, lines)
  if (named !== null) return [named]
  const alias = rows.findIndex((row) => /(?:^|[\s,[{:-])\*[\w-]+/.test(row)) + 1
  if (alias > 0)
    return [{ line: alias, message: 'expected no aliases (*name): write the value out' }]
  const { line, reason } =
    refusal instanceof YAMLException
      ? { line: (refusal.mark?.line ?? 0) + 1, reason: refusal.reason }
      : { line: 1, reason: 'it cannot be read' }
  if (/\btag\b/.test(reason)) return [{ line, message: LOCAL_FAULTS.TAG_RESOLVE_FAILED ?? reason }]
  return [{ line, message: `expected valid YAML: ${reason}` }]
}

/**
 * Finds lines of fields in YAML text, for messages: the deepest part of a path that exists. The
 * text is read once, at the first call, and each of its maps is indexed once.
 */
export function createLineFinder(text: string): LineFinder {
  const lines = new LineCounter()
  const indexes = new WeakMap<YAMLMap, Map<string, Pair>>()
  let document: Document | undefined
  const lineOf = (node: unknown) => (isRanged(node) ? lines.linePos(node.range[0]).line : null)
  const pairIn = (map: YAMLMap, key: string) => {
    const index = indexes.get(map) ?? indexPairs(map)
    indexes.set(map, index)
    return index.get(key)
  }
  const step = (node: unknown, key: string | number) =>
    isMap(node)
      ? pairIn(node, String(key))?.value
      : isSeq(node) && typeof key === 'number'
        ? node.items[key]
        : undefined
  return (path, isKey = false) => {
    document ??= parseDocument(text, { ...OPTIONS, lineCounter: lines })
    const nodes: unknown[] = [document.contents]
    for (const key of path) nodes.push(step(nodes.at(-1), key))
    const map = nodes.at(-2)
    if (isKey && isMap(map)) nodes[path.length] = pairIn(map, String(path.at(-1)))?.key
    return (
      nodes
        .slice(1)
        .map(lineOf)
        .findLast((line) => line !== null) ?? 1
    )
  }
}

/**
 * @param path keys and list positions, as a schema issue names them.
 * @param isKey the fault is the key itself, whose value may stand on the next line
 * @returns a 1-based line
 */
export type LineFinder = (path: readonly (string | number)[], isKey?: boolean) => number

/** Of a key that is written twice, the first. */
function indexPairs({ items }: YAMLMap): Map<string, Pair> {
  return new Map(
    items
      .toReversed()
      .map((pair) => [String(isScalar(pair.key) ? pair.key.value : pair.key), pair]),
  )
}

/** Errors that leave the rest of the text readable: each is reported. */
const LOCAL_FAULTS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'expected each key once',
  TAG_RESOLVE_FAILED: 'expected no tags (!…): plain values only',
}

interface Issue {
  code: string
  message: string
  pos: readonly [start: number, end: number]
}

const byPlace = (a: Issue, b: Issue) => a.pos[0] - b.pos[0]

function findRepeatedKeys(document: Document): Issue[] {
  const issues: Issue[] = []
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key
        const start = isRanged(key) ? key.range[0] : 0
        if (seen.has(name)) issues.push({ code: 'DUPLICATE_KEY', message: '', pos: [start, start] })
        seen.add(name)
      }
    },
  })
  return issues
}

interface Text {
  rows: readonly string[]
  lines: LineCounter
}

function toYamlFault({ code, message, pos }: Issue, text: string, { rows, lines }: Text) {
  const { line } = lines.linePos(pos[0])
  // A list behind a tab is blamed on the key before it.
  const near = rows.slice(line - 1, line + 1)
  const tab = near.findIndex((row) => /^ *\t/.test(row))
  if (tab !== -1) return { line: line + tab, message: 'expected spaces before the text, got a tab' }
  const unclosed = findUnclosed(message, text.slice(0, pos[0]))
  const [reason = message] = message.split('\n')
  return unclosed ?? { line, message: LOCAL_FAULTS[code] ?? `expected valid YAML: ${reason}` }
}

/** The parser names the position where it gave up, which may be the end of the file. */
function findUnclosed(message: string, before: string): YamlFault | null {
  const [, closing] = /end with an? ([\]}])/.exec(message) ?? []
  if (closing === undefined) return null
  const open: { bracket: string; line: number }[] = []
  let line = 1
  // Brackets inside quotes and comments do not count.
  for (const [piece] of before.matchAll(
    /"(?:[^"\\]|\\.)*"|(?<=[\s,[{:])'[^']*'|(?<=\s)#.*|[\s\S]/g,
  )) {
    if (piece === '[' || piece === '{') open.push({ bracket: piece, line })
    else if (piece === ']' || piece === '}') open.pop()
    line += piece.split('\n').length - 1
  }
  const unclosed = open.at(-1)
  return unclosed === undefined
    ? null
    : { line: unclosed.line, message: `expected ${closing} that closes the ${unclosed.bracket}` }
}

/** `<<` and `__proto__` are keys with a side meaning somewhere; anchors have no use without aliases. */
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

function findOddNumber(document: Document, lines: LineCounter): YamlFault | null {
  let fault: YamlFault | null = null
  visit(document, {
    Scalar(_, { value, source = '', range }) {
      if (typeof value !== 'number' || !ODD_NUMBER.test(source)) return undefined
      const message = `expected a plain decimal number such as 12 or 0.5, got ${source}: write text in quotes`
      fault = { line: lines.linePos(range?.[0] ?? 0).line, message }
      return visit.BREAK
    },
  })
  return fault
}

function findTooDeep(text: string): YamlFault | null {
  let depth = 0
  let line = 1
  for (const character of text) {
    if (character === '\n') line++
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    if (depth > MAX_DEPTH) return { line, message: `expected at most ${MAX_DEPTH} nested brackets` }
  }
  const indented = text
    .split('\n')
    .findIndex((row) => row.search(/\S/) > MAX_DEPTH * 4 || /^(?:\s*- ){8}/.test(row))
  return indented === -1 ? null : { line: indented + 1, message: 'expected less indentation' }
}

function isRanged(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}
