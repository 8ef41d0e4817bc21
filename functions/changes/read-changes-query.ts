import * as v from 'valibot'
import { type LogCursor, parseCursor } from '../../src/domain/changes/change-log.ts'
import { InstantSchema } from '../../src/domain/trust/instant.ts'
import type { InputError } from '../http/problem.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000
const NAMES = ['since', 'limit']

/** Where the answer begins: behind a cursor, at an instant (ISO 8601 UTC), or with the first row. */
export type Since = { cursor: LogCursor } | { instant: string } | null

export interface ChangesQuery {
  since: Since
  limit: number
}

/** `since=…&limit=…`; whatever is wrong is named, all of it at once. */
export function readChangesQuery(query: string): ChangesQuery | { errors: InputError[] } {
  const parameters = new URLSearchParams(query)
  const errors: InputError[] = []
  const refuse = (name: string, detail: string, allowed?: readonly string[]) =>
    errors.push({ in: 'query', name, detail, ...(allowed && { allowed }) })
  for (const name of new Set(parameters.keys()))
    if (!NAMES.includes(name)) refuse(name, 'there is no such parameter', NAMES)
    else if (parameters.getAll(name).length > 1) refuse(name, 'given more than once')
  const limit = toLimit(parameters.get('limit'))
  if (limit === null) refuse('limit', `expected a whole number from 1 to ${MAX_LIMIT}`)
  const since = toSince(parameters.get('since'))
  if (since === undefined)
    refuse(
      'since',
      'expected the `next` of an earlier answer, or a time such as 2026-11-20T00:00:00Z',
    )
  return errors.length > 0 || limit === null || since === undefined ? { errors } : { since, limit }
}

function toLimit(text: string | null): number | null {
  if (text === null) return DEFAULT_LIMIT
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= MAX_LIMIT ? limit : null
}

/** @returns undefined for text that is neither. */
function toSince(text: string | null): Since | undefined {
  if (text === null) return null
  const cursor = parseCursor(text)
  if (cursor !== null) return { cursor }
  const [, day, time = 'T00:00:00', zone = 'Z'] = INSTANT.exec(text) ?? []
  if (day === undefined || !v.is(InstantSchema, `${day}${time}Z`)) return undefined
  const at = Date.parse(`${day}${time}${zone.replace(' ', '+')}`)
  return Number.isNaN(at) ? undefined : { instant: new Date(at).toISOString() }
}

/** RFC 3339, or a day; a plus sign that was not encoded arrives as a space. */
const INSTANT =
  /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+ -](?:[01]\d|2[0-3]):[0-5]\d))?$/
