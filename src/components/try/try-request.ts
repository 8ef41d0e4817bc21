import type { KitOperation } from '../../domain/kit/kit-entries.ts'
import { encodeBody, toExampleRequest, toText } from '../../domain/listing/operation.ts'
import { isJsonObject, parseJson } from '../../domain/wire/json.ts'

/** One input of the form: a parameter, a member of a JSON body, or the whole body. */
export interface TryField {
  /** Where its value goes: `query:q`, `path:id`, `header:X-Mode`, `body:query`, or `body`. */
  key: string
  name: string
  /** JSON type; the whole body and members of any other type are written as JSON. */
  type: 'string' | 'integer' | 'number' | 'boolean' | 'json'
  choices: readonly string[]
  isRequired: boolean
  /** The example's value, as text. */
  value: string
}

type Operation = Pick<KitOperation, 'method' | 'url' | 'params' | 'body' | 'example'>

/** The fields of the form, filled with the operation's own example. */
export function toTryFields({ params = [], body, example }: Operation): TryField[] {
  const fields = params.map(({ name, in: place, schema = {}, required, example: value }) => ({
    ...toField(`${place}:${name}`, name, schema),
    isRequired: required === true || place === 'path',
    value: value === undefined ? '' : toText(value),
  }))
  const { properties, required } = body?.schema ?? {}
  const sent = example.body
  if (sent === undefined) return fields
  if (!isJsonObject(properties) || !isJsonObject(sent))
    return [...fields, { ...toField('body', 'body', {}), isRequired: true, value: toText(sent) }]
  const needed = Array.isArray(required) ? required : []
  const members = Object.entries(properties).map(([name, schema]) => ({
    ...toField(`body:${name}`, name, isJsonObject(schema) ? schema : {}),
    isRequired: needed.includes(name),
    value: sent[name] === undefined ? '' : toText(sent[name]),
  }))
  return [...fields, ...members]
}

function toField(key: string, name: string, schema: Readonly<Record<string, unknown>>) {
  const choices = Array.isArray(schema.enum) ? schema.enum.map(String) : []
  return { key, name, type: typeOf(schema.type), choices }
}

function typeOf(type: unknown): TryField['type'] {
  return type === 'string' || type === 'integer' || type === 'number' || type === 'boolean'
    ? type
    : 'json'
}

export interface TryRequest {
  method: string
  /** The seller's address with its query. */
  url: string
  headers: Record<string, string>
  body: string | undefined
}

/**
 * The request of the filled form. An empty input is not sent.
 * @param values text by the key of its field
 * @returns a sentence that names the input that does not match its type
 */
export function toTryRequest(
  operation: Operation,
  values: ReadonlyMap<string, string>,
): TryRequest | string {
  const parsed = new Map<string, unknown>()
  for (const field of toTryFields(operation)) {
    const text = (values.get(field.key) ?? '').trim()
    if (text === '' && field.isRequired) return `${field.name}: expected a value.`
    if (text === '') continue
    const value = parseValue(field.type, text)
    if (value === undefined) return `${field.name}: expected ${EXPECTED[field.type]}, got ${text}`
    parsed.set(field.key, value)
  }
  const params = (operation.params ?? []).flatMap(({ example: _, ...param }) => {
    const value = parsed.get(`${param.in}:${param.name}`)
    return value === undefined ? [] : [{ ...param, example: toText(value) }]
  })
  const { url, headers } = toExampleRequest(
    { method: operation.method, url: operation.url, params },
    { type: 'none' },
  )
  const body = toBody(parsed)
  const type = operation.body?.content_type ?? 'application/json'
  return {
    method: operation.method,
    url,
    headers: body === undefined ? withoutType(headers) : { ...headers, 'Content-Type': type },
    body: body === undefined ? undefined : encodeBody(type, body),
  }
}

/** The whole body, or its members; undefined where the form has neither. */
function toBody(parsed: ReadonlyMap<string, unknown>): unknown {
  if (parsed.has('body')) return parsed.get('body')
  const members = [...parsed].flatMap(([key, value]) =>
    key.startsWith('body:') ? [[key.slice('body:'.length), value] as const] : [],
  )
  return members.length === 0 ? undefined : Object.fromEntries(members)
}

function withoutType({ 'Content-Type': _, ...headers }: Record<string, string>) {
  return headers
}

const EXPECTED = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  json: 'JSON',
} as const satisfies Record<TryField['type'], string>

function parseValue(type: TryField['type'], text: string): unknown {
  if (type === 'string') return text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  if (type === 'json') return parseJson(text) ?? (/^[[{"]/.test(text) ? undefined : text)
  const number = Number(text)
  const isFit = type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number)
  return isFit ? number : undefined
}

/** The same request at the relay, on this page's own origin. */
export function toRelayPath(relayUrl: string, { url }: Pick<TryRequest, 'url'>): string {
  return `${new URL(relayUrl).pathname}?endpoint=${encodeURIComponent(url)}`
}
