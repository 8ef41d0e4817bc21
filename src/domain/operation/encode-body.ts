import { isJsonObject } from '../wire/parse-json.ts'

/** Text of a body as it goes over the wire. */
export function encodeBody(contentType: string, body: unknown): string {
  if (typeof body === 'string' && !isJson(contentType)) return body
  if (contentType === 'application/x-www-form-urlencoded' && isJsonObject(body))
    return Object.entries(body)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeValue(toText(value))}`)
      .join('&')
  return JSON.stringify(body)
}

function isJson(contentType: string): boolean {
  return contentType === 'application/json' || contentType.endsWith('+json')
}

export function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A placeholder stays visible: whoever fills it in must find it. */
export function encodeValue(value: string): string {
  return /^<[A-Z0-9_]+>$/.test(value) ? value : encodeURIComponent(value)
}
