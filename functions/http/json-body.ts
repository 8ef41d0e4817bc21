import { isJsonObject, parseJson } from '../../src/domain/wire/parse-json.ts'
import type { ProblemCode } from '../../src/domain/wire/problems.ts'

/** Strings whole, so that no bracket inside one counts, and the marks that open, close and part. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g

/** Bytes of a JSON body of our own endpoints. */
const MAX_BODY_BYTES = 16 * 1024

export type JsonBody =
  | { value: Record<string, unknown>; fault: null }
  | { value: null; fault: { code: ProblemCode; detail: string } }

/**
 * The request's body as one JSON object. `application/json` only: a form or `text/plain` can be sent
 * across sites without a preflight.
 */
export async function readJsonBody(request: Request): Promise<JsonBody> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type)) {
    return faulty('unsupported-media-type', 'Send the body with Content-Type: application/json.')
  }
  const bytes = await readBytes(request).catch(() => undefined)
  if (bytes === undefined) return faulty('malformed-request', 'The body broke off before its end.')
  if (bytes === null) {
    return faulty('payload-too-large', `The body may have at most ${MAX_BODY_BYTES} bytes.`)
  }
  const text = decode(bytes)
  const value = text === null ? undefined : parseJson(text)
  if (text === null || !isJsonObject(value)) {
    return faulty('invalid-body', 'The body must be one JSON object in UTF-8, such as {"a":"b"}.')
  }
  const twice = findDuplicateKey(text)
  if (twice !== null) return faulty('invalid-body', 'The body names the same field twice.')
  return { value, fault: null }
}

/** Null past the limit, whatever Content-Length says; nothing more is read then. */
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

function faulty(code: ProblemCode, detail: string): JsonBody {
  return { value: null, fault: { code, detail } }
}

/**
 * The first key that stands twice in the outermost object of valid JSON, or null. `JSON.parse` keeps
 * the last of two silently, where a proxy in front may have judged the first.
 *
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
