import { isMap, isNode, isScalar, type Pair, parseDocument, visit } from 'yaml'
import type { InvokeEntry } from '../../src/domain/listing/invoke.ts'
import { OWNED_FIELDS, type OwnedField, type SeedFacts } from '../facts/seed-facts.ts'

const SCHEMA_LINE = '# yaml-language-server: $schema=../../schema/listing.schema.json'
const FRONT_MATTER = /^---\r?\n([\s\S]*?\n)---[ \t]*(?:\r?\n|$)/

/** A listing file as a person would have written it; the same facts give the same bytes. */
export function renderListing(facts: SeedFacts, added: string): string {
  const lines = [
    '---',
    SCHEMA_LINE,
    renderField('name', facts),
    `kind: ${facts.kind}`,
    ...OWNED_FIELDS.filter((field) => field !== 'name').map((field) => renderField(field, facts)),
    `added: ${added}`,
    '---',
    '',
  ]
  return lines.join('\n')
}

/** @returns the front matter's fields, or null where the text has none that can be read. */
export function parseListingFields(text: string): Map<string, unknown> | null {
  const document = parseFrontMatter(text)?.document
  if (document === undefined || document.errors.length > 0) return null
  try {
    const value: unknown = document.toJS({ maxAliasCount: 0, mapAsMap: false })
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? new Map(Object.entries(value))
      : null
  } catch {
    return null
  }
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

/** The text with some fields' values replaced; every other byte stays as it is. */
export function replaceFields(
  text: string,
  fields: readonly OwnedField[],
  facts: SeedFacts,
): string {
  return fields.reduce((current, field) => replaceField(current, field, facts), text)
}

function replaceField(text: string, field: OwnedField, facts: SeedFacts): string {
  const rendered = renderField(field, facts)
  const found = findPair(text, field)
  if (found === null)
    return text.replace(/\n---[ \t]*(\r?\n|$)/, `\n${escapeReplacement(rendered)}\n---$1`)
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

function renderField(field: OwnedField, facts: SeedFacts): string {
  switch (field) {
    case 'name':
    case 'summary':
    case 'url':
      return `${field}: ${JSON.stringify(facts[field])}`
    case 'categories':
      return `categories: [${facts.categories.join(', ')}]`
    case 'invoke':
      return ['invoke:', ...facts.invoke.map((entry) => `  - ${renderInvoke(entry)}`)].join('\n')
    case 'sources':
      return [
        'sources:',
        ...facts.sources.map(
          ({ source, ref }) => `  - { source: ${source}, ref: ${JSON.stringify(ref)} }`,
        ),
      ].join('\n')
  }
}

function renderInvoke(entry: InvokeEntry): string {
  return entry.kind === 'mcp'
    ? `{ kind: mcp, transport: ${entry.transport}, url: ${JSON.stringify(entry.url)} }`
    : `{ kind: mcp_package, transport: ${entry.transport}, registry: ${entry.registry}, identifier: ${JSON.stringify(entry.identifier)} }`
}

function escapeReplacement(text: string): string {
  return text.replaceAll('$', '$$$$')
}
