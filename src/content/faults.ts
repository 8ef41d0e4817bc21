import type * as v from 'valibot'
import { cutAt, findNearestName } from '../domain/wire/text.ts'

/** A schema issue as a maintainer needs it: where in the data, and what would be right. */
export interface SchemaFault {
  path: (string | number)[]
  field: string
  message: string
  /** Whether the key itself is unknown: then the line is the key's, not the value's. */
  isUnknownKey: boolean
}

const MAX_SHOWN = 60

/** @param schema the schema that raised the issues and knows the valid keys */
export function toSchemaFaults(
  schema: unknown,
  issues: readonly v.BaseIssue<unknown>[],
): SchemaFault[] {
  return issues.flatMap((issue) => {
    const path = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)))
    if (issue.type === 'strict_object' && issue.expected === 'never')
      return unknownKeysAt(schema, path, issue.path?.at(-1)?.input)
    return [{ path, field: toField(path), message: toMessage(issue), isUnknownKey: false }]
  })
}

/** Reports all unknown keys in one run; the schema's own issue names only the first. */
function unknownKeysAt(
  schema: unknown,
  path: readonly (string | number)[],
  object: unknown,
): SchemaFault[] {
  const place = path.slice(0, -1)
  const known = findKnownKeys(schema, place)
  const first = String(path.at(-1))
  const others = Object.keys(Object(object)).filter((key) => key !== first && !known.includes(key))
  return [first, ...others].map((key) => {
    const whole = [...place, key]
    const message = toUnknownKeyMessage(key, known)
    return { path: whole, field: toField(whole), message, isUnknownKey: true }
  })
}

/** @example toField(['http', 0, 'url']) → 'http[0].url' */
export function toField(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`,
    '',
  )
}

function toMessage(issue: v.BaseIssue<unknown>): string {
  if (issue.received === 'undefined') return 'expected a value, got none'
  if (issue.message.startsWith('Invalid'))
    return `expected ${issue.expected ?? 'another value'}, got ${toShown(issue.input)}`
  return issue.message.includes('got ')
    ? issue.message
    : `${issue.message}, got ${toShown(issue.input)}`
}

function toUnknownKeyMessage(key: string, known: readonly string[]): string {
  // A key of another variant.
  if (known.includes(key)) return 'expected no such key together with the other values here'
  const nearest = findNearestName(key, known)
  return nearest === null
    ? `expected one of the known keys (${known.join(', ')})`
    : `expected a known key; did you mean ${nearest}?`
}

/** Walks a schema along a path: objects by key, lists by item, variants over all their options. */
function findKnownKeys(schema: unknown, path: readonly (string | number)[]): string[] {
  const wrapped = read(schema, 'wrapped')
  if (wrapped !== undefined) return findKnownKeys(wrapped, path)
  const options = read(schema, 'options')
  if (Array.isArray(options))
    return [...new Set(options.flatMap((option) => findKnownKeys(option, path)))]
  const entries = read(schema, 'entries')
  const [key, ...rest] = path
  if (key === undefined) return Object.keys(entries ?? {})
  return findKnownKeys(typeof key === 'number' ? read(schema, 'item') : read(entries, key), rest)
}

function read(value: unknown, key: string): object | undefined {
  const inner: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  return typeof inner === 'object' && inner !== null ? inner : undefined
}

function toShown(input: unknown): string {
  return cutAt(JSON.stringify(input) ?? String(input), MAX_SHOWN)
}

/** An error in the content: where it is, what it is, and what would be right. */
export interface Fault {
  /** Path from the content folder, with forward slashes. */
  file: string
  /** 1-based; null if the error is in the whole file. */
  line: number | null
  /** Dotted path of the field, empty for the file itself. */
  field: string
  message: string
  severity: 'error' | 'warning'
}

/** An error in a whole file, unless `about` gives a line or a field. */
export function faultOf(file: string, message: string, about: Partial<Fault> = {}): Fault {
  return { file, line: null, field: '', message, severity: 'error', ...about }
}

/**
 * @example formatFault({ file: 'listings/x402/foo.md', line: 7, field: 'pricing.min_usd', message: 'expected a number, got "free"', severity: 'error' }, 'content')
 *   → 'content/listings/x402/foo.md:7 pricing.min_usd: expected a number, got "free"'
 */
export function formatFault({ file, line, field, message, severity }: Fault, root: string): string {
  const place = `${root}/${file}${line === null ? '' : `:${line}`}`
  const subject = field === '' ? '' : ` ${field}`
  const level = severity === 'warning' ? 'warning, ' : ''
  return toPrintable(`${place}${subject}: ${level}${message}`, Number.POSITIVE_INFINITY)
}

/**
 * Makes foreign text safe for a terminal or a report: one line, no escape sequences (a name may
 * contain `ESC ] 0 ;` and retitle the window), no invisible or direction-changing characters.
 * @example toPrintable('a\u001b[31mb') → 'a\\u{1b}[31mb'
 */
export function toPrintable(text: string, maxLength = 300): string {
  return cutAt(text, maxLength)
    .toWellFormed()
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
    )
}
