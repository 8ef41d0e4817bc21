import {
  type Document,
  isMap,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
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
  uniqueKeys: true,
  strict: true,
  merge: false,
  prettyErrors: false,
} as const

/** Deeper than any front matter; a thousand brackets would overflow the parser's stack. */
const MAX_DEPTH = 20

export function parseYaml(text: string): YamlResult {
  const deep = findTooDeep(text)
  if (deep !== null) return { ok: false, faults: [deep] }
  const lines = new LineCounter()
  const document = parseDocument(text, { ...OPTIONS, lineCounter: lines })
  const issues = [...document.errors, ...document.warnings]
  // Once the text cannot be read further, later errors of the parser are consequences.
  const broken = issues.filter(({ code }) => !Object.hasOwn(LOCAL_FAULTS, code)).sort(byPlace)[0]
  const faults = (broken === undefined ? issues : [broken]).map((issue) =>
    toYamlFault(issue, text, lines),
  )
  if (faults.length > 0) return { ok: false, faults }
  const forbidden = findForbidden(text) ?? findOddNumber(text, document, lines)
  if (forbidden !== null) return { ok: false, faults: [forbidden] }
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: 0 }) }
  } catch {
    const line = text.split('\n').findIndex((row) => /(?:^|[\s,[{:-])\*[\w-]+/.test(row)) + 1
    return {
      ok: false,
      faults: [{ line, message: 'expected no aliases (*name): write the value out' }],
    }
  }
}

/**
 * Line of a field in YAML text, for messages: the deepest part of the path that exists.
 *
 * @param path keys and list positions, as a schema issue names them.
 * @param isKey the fault is the key itself, whose value may stand on the next line
 */
export function findYamlLine(
  text: string,
  path: readonly (string | number)[],
  isKey = false,
): number {
  const lines = new LineCounter()
  const document = parseDocument(text, { ...OPTIONS, lineCounter: lines })
  const lineOf = (node: unknown) => (isRanged(node) ? lines.linePos(node.range[0]).line : null)
  const place = path.slice(0, -1)
  const map = place.length === 0 ? document.contents : document.getIn(place, true)
  const pair = isMap(map)
    ? map.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1)))
    : undefined
  const key = isKey ? lineOf(pair?.key) : null
  if (key !== null) return key
  for (let length = isKey ? place.length : path.length; length > 0; length--) {
    const line = lineOf(document.getIn(path.slice(0, length), true))
    if (line !== null) return line
  }
  return 1
}

/** Errors that leave the rest of the text readable: each is reported. */
const LOCAL_FAULTS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'expected each key once',
  TAG_RESOLVE_FAILED: 'expected no tags (!…): plain values only',
}

const byPlace = (a: YAMLError, b: YAMLError) => a.pos[0] - b.pos[0]

function toYamlFault({ code, message, pos }: YAMLError, text: string, lines: LineCounter) {
  const { line } = lines.linePos(pos[0])
  // A list behind a tab is blamed on the key before it.
  const near = text.split('\n').slice(line - 1, line + 1)
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

/** Numbers that readers take for another one: `012` is twelve to YAML and ten to a C programmer. */
const ODD_NUMBER = /^[-+]?0[xXoO\d]/

function findOddNumber(text: string, document: Document, lines: LineCounter): YamlFault | null {
  let fault: YamlFault | null = null
  // Most texts have none anywhere, not even in an address: then no node is visited.
  if (!/(?<![\w.]|\w[-+])0[xXoO\d]/.test(text)) return fault
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
