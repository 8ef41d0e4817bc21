import { exampleOf, toPlaceholder } from '../json-schema/json-schema.ts'
import type { Auth } from '../listing/auth.ts'
import { fillPlaceholders, type Operation, type Param } from '../listing/listing-facts.ts'
import { isJsonObject } from '../wire/json.ts'
import type { HttpMethod } from '../wire/vocabulary.ts'

/** One request that a caller may send unchanged, except for what is in `<ANGLE_BRACKETS>`. */
export interface ExampleRequest {
  method: HttpMethod
  url: string
  headers: Record<string, string>
  /** A JSON value for JSON, else text; absent where none is sent. */
  body?: unknown
}

/** Parameters with an example, and required ones; `<PLACEHOLDER>` for what nobody can guess. */
export function toExampleRequest(operation: Operation, auth: Auth): ExampleRequest {
  const params = operation.params ?? []
  const sent = params.filter(
    (param) => param.example !== undefined || param.required === true || param.in === 'path',
  )
  const query = sent.filter((param) => param.in === 'query').map(toPair)
  const headers = sent.filter((param) => param.in === 'header').map(toPair)
  if (auth.type === 'api_key' && auth.name !== undefined && !isAmong(auth.name, params))
    (auth.in === 'query' ? query : headers).push([auth.name, toPlaceholder('api_key')])
  if ((auth.type === 'bearer' || auth.type === 'oauth') && !isAmong('Authorization', params))
    headers.push(['Authorization', `Bearer ${toPlaceholder('token')}`])
  const body = toBody(operation)
  if (body !== undefined)
    headers.push(['Content-Type', operation.body?.content_type ?? 'application/json'])
  return {
    method: operation.method,
    url: withQuery(fillPath(operation), query),
    headers: Object.fromEntries(headers),
    ...(body !== undefined && { body }),
  }
}

/** A method with an undescribed body takes JSON, as nearly all do. */
function toBody({ method, body, params }: Operation): unknown {
  if (method === 'GET') return undefined
  if (body !== undefined)
    return body.example ?? (body.schema && exampleOf(body.schema, 'body')) ?? {}
  return method === 'DELETE' || params !== undefined ? undefined : {}
}

function fillPath({ url, params = [] }: Operation): string {
  return fillPlaceholders(url, (name) => {
    const param = params.find((each) => each.in === 'path' && each.name === name)
    return param === undefined ? toPlaceholder(name) : encodeValue(toPair(param)[1])
  })
}

export function withQuery(url: string, query: readonly [string, string][]): string {
  if (query.length === 0) return url
  const [address = '', fragment] = url.split('#')
  const text = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeValue(value)}`)
  const joint = address.includes('?') ? '&' : '?'
  return `${address}${joint}${text.join('&')}${fragment === undefined ? '' : `#${fragment}`}`
}

function toPair(param: Param): [string, string] {
  const value = param.example ?? (param.schema && exampleOf(param.schema, param.name))
  return [param.name, value === undefined ? toPlaceholder(param.name) : toText(value)]
}

function isAmong(name: string, params: readonly Param[]): boolean {
  return params.some((param) => param.name.toLowerCase() === name.toLowerCase())
}

export function encodeBody(contentType: string, body: unknown): string {
  const isJson = contentType === 'application/json' || contentType.endsWith('+json')
  if (typeof body === 'string' && !isJson) return body
  if (contentType === 'application/x-www-form-urlencoded' && isJsonObject(body))
    return Object.entries(body)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeValue(toText(value))}`)
      .join('&')
  return JSON.stringify(body)
}

export function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A placeholder stays visible, so that the caller finds it. */
export function encodeValue(value: string): string {
  return /^<[A-Z0-9_]+>$/.test(value) ? value : encodeURIComponent(value)
}
