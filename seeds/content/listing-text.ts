import { isMap, isNode, isScalar, type Pair, parseDocument, visit } from 'yaml'
import { isJsonObject, parseJson } from '../../src/domain/wire/parse-json.ts'
import { type Identity, identify } from '../facts/listing-marks.ts'
import { OWNED_FIELDS, type OwnedField, type SeedFacts } from '../facts/seed-facts.ts'

/** A listing that is in the content already. */
export interface ExistingListing extends Identity {
  /** Path from the content folder. */
  file: string
  /** Null for a link or a folder of that name. */
  text: string | null
  /** Null where the front matter can't be read. */
  fields: ReadonlyMap<string, unknown> | null
}

export function toExistingListing(file: string, text: string | null): ExistingListing {
  const fields = text === null ? null : parseListingFields(text)
  return { file, text, fields, ...identify(Object.fromEntries(fields ?? [])) }
}

/** Keys whose values are words of closed lists: they read better without quotes. */
const PLAIN_KEYS: ReadonlySet<string> = new Set([
  ...['kind', 'transport', 'registry', 'source', 'method', 'model', 'cost', 'tags', 'rail'],
  ...['rails', 'in', 'per', 'type', 'task', 'assumed', 'categories'],
])

/** A word that no YAML 1.2 reader takes for anything but text. */
const PLAIN_WORD = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][A-Za-z0-9_-]*$/i

const SCHEMA_LINE = '# yaml-language-server: $schema=../../schema/listing.schema.json'
const FRONT_MATTER = /^---\r?\n([\s\S]*?\n)---[ \t]*(?:\r?\n|$)/

/** Facts by name, whatever shape each has: what is written says what was given. */
type Facts = { readonly [Name in keyof SeedFacts]?: unknown }

/** A listing file as a person would have written it; the same facts give the same bytes. */
export function renderListing(facts: Facts, added: string): string {
  const lines = [
    '---',
    SCHEMA_LINE,
    `name: ${toFlow(facts.name)}`,
    `kind: ${facts.kind}`,
    ...OWNED_FIELDS.filter((field) => field !== 'name' && facts[field] !== undefined).map((field) =>
      renderField(field, facts[field]),
    ),
    `added: ${added}`,
    '---',
    '',
  ]
  return lines.join('\n')
}

/** @returns the front matter's fields, or null where the text has none that can be read. */
export function parseListingFields(text: string): Map<string, unknown> | null {
  const own = parseOwnRender(text)
  if (own !== null) return own
  const document = parseFrontMatter(text)?.document
  if (document === undefined || document.errors.length > 0) return null
  try {
    const value: unknown = document.toJS({ maxAliasCount: 0, mapAsMap: false })
    return isJsonObject(value) ? new Map(Object.entries(value)) : null
  } catch {
    return null
  }
}

/**
 * A file no person has touched, read a hundred times faster than YAML: each line's value is JSON but
 * for its plain words. Only believed where writing it again gives the very same text.
 */
function parseOwnRender(text: string): Map<string, unknown> | null {
  if (!text.startsWith(`---\n${SCHEMA_LINE}\n`)) return null
  const fields = new Map<string, unknown>()
  let list: unknown[] = []
  for (const line of text.split('\n').slice(2)) {
    const [, key, value = ''] = /^([a-z_]+):(?: (.*))?$/.exec(line) ?? []
    const item = line.startsWith('  - ') ? fromFlow(line.slice(4)) : undefined
    if (item !== undefined) list.push(item)
    else if (key !== undefined && value === '') {
      list = []
      fields.set(key, list)
    } else if (key !== undefined) fields.set(key, fromFlow(value) ?? value)
  }
  const added = fields.get('added')
  // Whatever shape it has: if it renders to the same text, it is what the text says.
  const facts: Record<string, unknown> = Object.fromEntries(fields)
  return typeof added === 'string' && renderListing(facts, added) === text ? fields : null
}

/** True where a person left a remark inside a field: replacing its value would lose the remark. */
export function hasComment(text: string, field: OwnedField): boolean {
  const pair = findPair(text, field)?.pair
  let found = false
  if (pair !== undefined && isNode(pair.value))
    visit(pair.value, (_, node) => {
      if (isNode(node) && (node.comment || node.commentBefore)) found = true
    })
  return found
}

/** The text with one field's value replaced, or without the field; every other byte stays. */
export function replaceField(text: string, field: OwnedField, value: unknown): string {
  const found = findPair(text, field)
  if (value === undefined) {
    if (found === null) return text
    const rest = text.slice(found.end)
    return text.slice(0, found.start) + rest.replace(/^[ \t]*\r?\n/, '')
  }
  const rendered = renderField(field, value)
  if (found === null) return text.replace(/(?=\n---[ \t]*(?:\r?\n|$))/, () => `\n${rendered}`)
  const { start, end } = found
  const tail = /\s*$/.exec(text.slice(start, end))?.[0] ?? ''
  return text.slice(0, start) + rendered + tail + text.slice(end)
}

function findPair(text: string, field: string) {
  const parsed = parseFrontMatter(text)
  if (parsed === null || !isMap(parsed.document.contents)) return null
  const pair = parsed.document.contents.items.find(
    ({ key }) => isScalar(key) && key.value === field,
  )
  const start = rangeOf(pair?.key)?.[0]
  const end = rangeOf(pair?.value)?.[1] ?? rangeOf(pair?.key)?.[1]
  if (pair === undefined || start === undefined || end === undefined) return null
  const narrowed: Pair<unknown, unknown> = pair
  return { pair: narrowed, start: start + parsed.offset, end: end + parsed.offset }
}

function rangeOf(node: unknown) {
  return isNode(node) ? node.range : undefined
}

function parseFrontMatter(text: string) {
  const match = FRONT_MATTER.exec(text)
  if (match?.[1] === undefined) return null
  const document = parseDocument(match[1], { schema: 'core', merge: false, prettyErrors: false })
  return { document, offset: match[0].indexOf('\n') + 1 }
}

/** Lists of things stand a line each, everything else on its key's line. */
function renderField(field: OwnedField, value: unknown): string {
  const isList = Array.isArray(value) && value.some((item) => typeof item === 'object')
  return isList
    ? [`${field}:`, ...value.map((item) => `  - ${toFlow(item)}`)].join('\n')
    : `${field}: ${toFlow(value, field)}`
}

/**
 * A value on one line of YAML, as a person would have written it; the same value gives the same
 * text.
 *
 * @param key the key it stands under, which decides on quotes
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
 * Reads what `toFlow` wrote.
 *
 * @returns undefined for any other text
 * @example fromFlow('{ kind: mcp }') → { kind: 'mcp' }
 */
function fromFlow(text: string): unknown {
  const json = text.replace(/"(?:[^"\\]|\\.)*"|[A-Za-z][A-Za-z0-9_-]*/g, (token, at: number) => {
    const isKey = /^\s*:\s/.test(text.slice(at + token.length, at + token.length + 3))
    if (token.startsWith('"') || (!isKey && /^(?:true|false|null)$/.test(token))) return token
    return /[0-9.]$/.test(text.slice(0, at)) ? token : `"${token}"`
  })
  return parseJson(json)
}
