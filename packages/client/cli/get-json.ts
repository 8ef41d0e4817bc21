import * as v from 'valibot'
import { WaypostError } from '../src/waypost-error.ts'

const PATIENCE_MS = 30_000

/** @throws WaypostError where the answer has another shape */
export async function getJson<Schema extends v.GenericSchema>(
  url: string,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(
    (cause: unknown) => {
      throw new WaypostError('unreachable', `${url} could not be reached`, { cause })
    },
  )
  if (!response.ok)
    throw new WaypostError(`http-${response.status}`, `${url} answered ${response.status}`)
  const read = v.safeParse(schema, await response.json().catch(() => undefined))
  if (read.success) return read.output
  throw new WaypostError('unreadable', `${url} answered something else: ${read.issues[0].message}`)
}
