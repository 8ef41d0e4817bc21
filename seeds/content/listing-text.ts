import { isMap, isNode, isScalar, isSeq, parseDocument } from 'yaml'
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
const FRONT_MATTER = /^---\r?\n([\s\S]*?\n)---[ \t]*(?:\r?\n|$)/

/** A listing's file as a person would have written it: the given fields in their order. */
export function renderListing(facts: SourceFacts, added?: string): string {
  const { kind, name } = facts
  const lines = [
    '---',
    SCHEMA_LINE,
    ...(name === undefined ? [] : [renderField('name', name)]),
    ...(kind === undefined ? [] : [`kind: ${kind}`]),
    ...SOURCE_FIELDS.filter((field) => field !== 'name' && field !== 'kind').flatMap((field) =>
      facts[field] === undefined ? [] : [renderField(field, facts[field])],
    ),
    ...(added === undefined ? [] : [`added: ${added}`]),
    '---',
    '',
  ]
  return lines.join('\n')
}

/** The text of a listing's file with more tags in it; null where a person edits them better. */
export function addTags(text: string, tags: readonly string[]): string | null {
  const [head = '', yaml = ''] = FRONT_MATTER.exec(text) ?? []
  const document = parseDocument(yaml, { schema: 'core', merge: false, prettyErrors: false })
  if (head === '' || document.errors.length > 0 || !isMap(document.contents)) return null
  const offset = head.indexOf('\n') + 1
  const pair = document.contents.items.find(({ key }) => isScalar(key) && key.value === 'tags')
  if (pair === undefined)
    return text.replace(/(?=\n---[ \t]*(?:\r?\n|$))/, () => `\n${renderField('tags', tags)}`)
  const [start, end] = [rangeOf(pair.key)?.[0], rangeOf(pair.value)?.[1]]
  const list = isSeq(pair.value) ? pair.value.toJSON() : null
  if (start === undefined || end === undefined || !Array.isArray(list)) return null
  const there = text.slice(offset + start, offset + end)
  // Writing the list again would lose a remark inside it.
  if (there.includes('#')) return null
  const tail = /\s*$/.exec(there)?.[0] ?? ''
  const rendered = renderField('tags', [...list, ...tags])
  return text.slice(0, offset + start) + rendered + tail + text.slice(offset + end)
}

function rangeOf(node: unknown) {
  return isNode(node) ? node.range : undefined
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
