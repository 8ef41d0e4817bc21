import * as v from 'valibot'
import { memberOf, parseJson } from '../../../src/domain/wire/json.ts'
import { MAX_DIRECTORY_BYTES, send } from '../src/requests.ts'
import { WaypostError } from '../src/waypost-error.ts'

const TIMEOUT_MS = 30_000

/** @throws WaypostError where the answer has another shape, or is too long */
export async function getJson<Schema extends v.GenericSchema>(
  url: string,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  return readAs(schema, parseJson(await getText(url)), url)
}

/** @throws WaypostError with the directory's own words where it refuses */
export async function getText(url: string): Promise<string> {
  const limits = { fetch, timeoutMs: TIMEOUT_MS, maxBytes: MAX_DIRECTORY_BYTES }
  const response = await send({ url }, limits)
  const text = await response.text()
  if (response.ok) return text
  const detail = memberOf(parseJson(text), 'detail')
  throw new WaypostError(
    `http-${response.status}`,
    `${url} answered ${response.status}${typeof detail === 'string' ? `: ${detail}` : ''}`,
  )
}

/** @throws WaypostError where an address answered something else */
export function readAs<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  url: string,
): v.InferOutput<Schema> {
  const read = v.safeParse(schema, value)
  if (read.success) return read.output
  throw new WaypostError('unreadable', `${url} answered something else: ${read.issues[0].message}`)
}
