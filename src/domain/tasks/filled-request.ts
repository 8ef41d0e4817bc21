import type { Auth } from '../listing/invoke.ts'
import { fillPlaceholders, type Operation } from '../listing/listing-facts.ts'
import { encodeValue, toText, withQuery } from '../listing/operation.ts'
import { memberOf } from '../wire/json.ts'
import type { HttpMethod } from '../wire/vocabulary.ts'
import { parseJsonPath, writeJsonPath } from './json-path.ts'

/** The members of an operation needed to fill its request. */
interface MappedOperation
  extends Pick<Operation, 'method' | 'url' | 'params' | 'body' | 'map' | 'send'> {}

/** The request that is sent to one seller for a task's input. */
interface FilledRequest {
  method: HttpMethod
  url: string
  headers?: Record<string, string>
  /** A JSON value, or a form's members if the seller takes a form. */
  body?: unknown
}

/** Whether calls to a listing work without an account. */
export function needsNoAccount({ type }: Pick<Auth, 'type'>): boolean {
  return type === 'none' || type === 'payment'
}

/** Matches `{member}` in a text that is sent. */
const MEMBER = /\{([a-z][a-z0-9_]*)\}/g

/** Members of the input that an operation uses. */
export function takenBy({ map = {}, send = {} }: Pick<Operation, 'map' | 'send'>): Set<string> {
  const texts = Object.values(send).flatMap((value) => (typeof value === 'string' ? [value] : []))
  const named = texts.flatMap((text) => [...text.matchAll(MEMBER)].map(([, name = '']) => name))
  return new Set([...Object.keys(map), ...named])
}

/** The values sent, by destination: a parameter's name or a path in the body. */
export function toSentValues(
  { map = {}, send = {} }: Pick<Operation, 'map' | 'send'>,
  input: Readonly<Record<string, unknown>>,
): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const [destination, value] of Object.entries(send)) {
    const filled = typeof value === 'string' ? fillText(value, input) : value
    if (filled !== undefined) values.set(destination, filled)
  }
  for (const [member, destination] of Object.entries(map)) {
    const value = memberOf(input, member)
    if (value !== undefined) values.set(destination, value)
  }
  return values
}

/** Undefined if the input lacks a member that the text names: then the whole text is left out. */
function fillText(text: string, input: Readonly<Record<string, unknown>>): string | undefined {
  const names = [...text.matchAll(MEMBER)].map(([, name = '']) => name)
  if (names.some((name) => memberOf(input, name) === undefined)) return undefined
  return text.replace(MEMBER, (_, name: string) => toText(memberOf(input, name)))
}

/**
 * The seller's request for an input. Only the map and `send` fill it: a seller's example is never
 * sent in place of the input.
 */
export function fillRequest(
  operation: MappedOperation,
  input: Readonly<Record<string, unknown>>,
): FilledRequest {
  const { method, params = [] } = operation
  const values = toSentValues(operation, input)
  const pairsIn = (place: string) =>
    params.flatMap((param): [string, string][] => {
      const value = values.get(param.name)
      return param.in === place && value !== undefined ? [[param.name, toText(value)]] : []
    })
  const path = Object.fromEntries(pairsIn('path'))
  const url = fillPlaceholders(operation.url, (name) => encodeValue(path[name] ?? ''))
  const body = toBody(operation, values)
  const headers = Object.fromEntries([
    ...pairsIn('header'),
    ...(body === undefined
      ? []
      : [['Content-Type', operation.body?.content_type ?? 'application/json']]),
  ])
  return {
    ...{ method, url: withQuery(url, pairsIn('query')) },
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && { body }),
  }
}

function toBody({ method, params = [] }: MappedOperation, values: ReadonlyMap<string, unknown>) {
  if (method === 'GET') return undefined
  const names = new Set(params.map(({ name }) => name))
  let body: unknown
  for (const [destination, value] of values) {
    const path = names.has(destination) ? null : parseJsonPath(destination)
    if (path !== null) body = writeJsonPath(body, path, value)
  }
  return body
}
