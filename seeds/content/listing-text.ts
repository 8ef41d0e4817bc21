import { isNode, isScalar, isSeq, type Node, parseDocument, visit } from 'yaml'
import {
  SOURCE_FIELDS,
  type SourceFacts,
  type SourceField,
} from '../../src/domain/sources/source-row.ts'

/** Keys whose values are words of closed lists: they read better without quotes. */
const PLAIN_KEYS: ReadonlySet<string> = new Set([
  ...['kind', 'transport', 'registry', 'source', 'method', 'model', 'cost', 'tags', 'rail'],
  ...['rails', 'in', 'per', 'type', 'task', 'assumed', 'categories'],
])

/** A word that no YAML 1.2 reader takes for anything but text. */
const PLAIN_WORD = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][A-Za-z0-9_-]*$/i

const SCHEMA_LINE = '# yaml-language-server: $schema=../../schema/listing.schema.json'

/** A listing's file as a person would have written it: the given fields in their order. */
export function renderListing(facts: SourceFacts, added?: string): string {
  const fields = new Set<SourceField>(['name', 'kind', ...SOURCE_FIELDS])
  const lines = [
    '---',
    SCHEMA_LINE,
    ...[...fields].flatMap((field) =>
      facts[field] === undefined ? [] : [renderField(field, facts[field])],
    ),
    ...(added === undefined ? [] : [`added: ${added}`]),
    '---',
    '',
  ]
  return lines.join('\n')
}

/** Items of lists get a line each, everything else is on its key's line. */
function renderField(field: SourceField, value: unknown): string {
  const isList = Array.isArray(value) && value.some((item) => typeof item === 'object')
  return isList
    ? [`${field}:`, ...value.map((item) => `  - ${toFlow(item)}`)].join('\n')
    : `${field}: ${toFlow(value, field)}`
}

/**
 * A value on one line of YAML, as a person would have written it; the same value gives the same
 * text.
 *
 * @param key the key of the value, which decides on quotes
 * @example toFlow({ kind: 'mcp', url: 'https://a.example/' }) → '{ kind: mcp, url: "https://a.example/" }'
 */
function toFlow(value: unknown, key = ''): string {
  if (Array.isArray(value)) return `[${value.map((item) => toFlow(item, key)).join(', ')}]`
  if (typeof value === 'string')
    return PLAIN_KEYS.has(key) && PLAIN_WORD.test(value) ? value : JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const pairs = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([name, item]) => {
      const key = PLAIN_WORD.test(name) ? name : JSON.stringify(name)
      return `${key}: ${toFlow(item, name)}`
    })
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

/**
 * Everything else in the text stays as it was written. Where a list already has a row of the new
 * id, the row of the former one is removed.
 *
 * @example renameId('- { id: x402.a, focus: broad }\n', 'x402.a', 'x402.b') → '- { id: x402.b, focus: broad }\n'
 */
export function renameId(text: string, from: string, to: string): string {
  let renamed = text
  const document = parseDocument(text, { schema: 'core' })
  const found: { scalar: Node; row: Node | null }[] = []
  visit(document, {
    Scalar(key, scalar, path) {
      if (key === 'key' || scalar.value !== from) return
      const list = path.findLast(isSeq)
      const rows = list?.flow === true ? [] : (list?.items.filter(isNode) ?? [])
      const isKnown = rows.some((row) => names(row, to))
      found.push({ scalar, row: (isKnown && rows.find((row) => names(row, from))) || null })
    },
  })
  // From the end, so that earlier positions stay valid.
  for (const { scalar, row } of found.reverse()) {
    const [start, end] = (row ?? scalar).range ?? [0, 0]
    const lineStart = renamed.lastIndexOf('\n', start) + 1
    renamed =
      row === null
        ? `${renamed.slice(0, start)}${to}${renamed.slice(end)}`
        : `${renamed.slice(0, lineStart)}${renamed.slice(renamed.indexOf('\n', end - 1) + 1)}`
  }
  return renamed
}

function names(row: Node, id: string): boolean {
  let isNamed = false
  visit(row, (key, node) => {
    if (key !== 'key' && isScalar(node) && node.value === id) isNamed = true
  })
  return isNamed
}
