import * as v from 'valibot'
import { isJsonObject, parseJson } from '../../src/domain/wire/json.ts'
import { findNearestName } from '../../src/domain/wire/text.ts'
import { type InputError, refuse } from './answers.ts'

/** Bodies are flat: every field is at the top level. */
export type ObjectSchema = v.GenericSchema & { entries: v.ObjectEntries }

/** The request's JSON body, parsed by the schema. @throws Refusal */
export async function parseBody<Schema extends ObjectSchema>(
  request: Request,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  return parseFields(await readJsonBody(request), schema)
}

/**
 * Parses the sent fields by the schema. A refusal names each wrong field, and each field that the
 * schema does not know: a misspelt `method` must not quietly become the default.
 * @throws Refusal
 */
export function parseFields<Schema extends ObjectSchema>(
  value: unknown,
  schema: Schema,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, value)
  if (parsed.success) return parsed.output
  const errors = parsed.issues.map((issue) => toFieldError(issue, schema))
  const named = Map.groupBy(errors, ({ fault }) => fault)
  const namesOf = (fault: FieldFault) => (named.get(fault) ?? []).map(({ name }) => name)
  const detail = [
    say(namesOf('missing'), 'The body lacks', 'The body lacks'),
    say(namesOf('unknown'), 'The body has an unknown field:', 'The body has unknown fields:'),
    say(
      namesOf('wrong'),
      'The body has a value that is not allowed:',
      'The body has values that are not allowed:',
    ),
  ]
  return refuse('invalid-parameter', {
    detail: detail.filter((sentence) => sentence !== '').join(' '),
    errors: errors.map(({ fault: _, ...error }) => error),
  })
}

type FieldFault = 'missing' | 'unknown' | 'wrong'

const LIST = new Intl.ListFormat('en-GB')

function say(names: readonly string[], one: string, several: string): string {
  if (names.length === 0) return ''
  return `${names.length === 1 ? one : several} ${LIST.format(names)}.`
}

function toFieldError(
  issue: v.BaseIssue<unknown>,
  schema: ObjectSchema,
): InputError & { fault: FieldFault } {
  const name = v.getDotPath(issue) ?? ''
  const isKey = issue.type === 'strict_object'
  if (isKey && issue.expected === 'never') {
    const known = Object.keys(schema.entries)
    return { in: 'body', name, detail: toUnknown(name, known), allowed: known, fault: 'unknown' }
  }
  if (isKey && issue.received === 'undefined')
    return { in: 'body', name, detail: 'expected this field, got none', fault: 'missing' }
  return { in: 'body', name, detail: issue.message, fault: 'wrong' }
}

function toUnknown(name: string, known: readonly string[]): string {
  const nearest = findNearestName(name, known)
  return nearest === null
    ? `unknown field; expected ${known.join(', ')}`
    : `unknown field; did you mean ${nearest}?`
}

/** Whole strings, so that brackets inside them are not counted, and the punctuation tokens. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g

const MAX_BODY_BYTES = 16 * 1024

/**
 * The request's body as one JSON object. Only `application/json` is taken, because a form or
 * `text/plain` can be sent across sites without a preflight.
 * @throws Refusal
 */
export async function readJsonBody(request: Request): Promise<Record<string, unknown>> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type))
    refuse('unsupported-media-type', {
      detail: 'Send the body with Content-Type: application/json.',
    })
  const bytes = await readBytes(request).catch(() =>
    refuse('malformed-request', { detail: 'The body was cut off before its end.' }),
  )
  if (bytes === null)
    refuse('payload-too-large', { detail: `The body may have at most ${MAX_BODY_BYTES} bytes.` })
  const text = decode(bytes)
  const value = text === null ? undefined : parseJson(text)
  if (text === null || !isJsonObject(value))
    refuse('invalid-body', {
      detail: 'The body must be one JSON object in UTF-8, such as {"a":"b"}.',
    })
  if (findDuplicateKey(text) !== null)
    refuse('invalid-body', { detail: 'The body has the same field twice.' })
  return value
}

/** The body's bytes; null once they exceed the limit, whatever Content-Length says. */
async function readBytes(request: Request): Promise<Uint8Array | null> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) return null
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/**
 * The first key that appears twice in the outermost object of valid JSON, or null. `JSON.parse`
 * silently keeps the second value, but a proxy in front may have judged the first.
 * @example findDuplicateKey('{"a":1,"\\u0061":2}') → 'a'
 */
function findDuplicateKey(json: string): string | null {
  const seen = new Set<string>()
  let depth = 0
  let isKeyNext = false
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      depth += 1
      isKeyNext = depth === 1
    } else if (token === '}' || token === ']') depth -= 1
    else if (token === ',') isKeyNext = depth === 1
    else if (isKeyNext) {
      const key = String(JSON.parse(token))
      if (seen.has(key)) return key
      seen.add(key)
      isKeyNext = false
    }
  }
  return null
}
