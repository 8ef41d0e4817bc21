import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'

/**
 * One JSON object per line on standard output, with fixed keys. Values are strings cut at 256
 * characters (JSON escapes control characters), so foreign text cannot forge a line. Callers never
 * pass cookies, tokens, email addresses, payment headers or whole URLs.
 */
export interface Log {
  info(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
}

export type LogFields = Record<string, string | number | boolean | null>

const MAX_VALUE_LENGTH = 256

/** Lines written while a request is handled have its id as `request`. */
export function createLog(write: (line: string) => void, now: () => number): Log {
  const emit =
    (level: string) =>
    (event: string, fields: LogFields = {}) => {
      const line: LogFields = { at: new Date(now()).toISOString(), level, event }
      const request = currentRequestId()
      if (request !== null) line.request = request
      for (const key of Object.keys(fields)) {
        const value = fields[key] ?? null
        line[key] = typeof value === 'string' ? value.slice(0, MAX_VALUE_LENGTH) : value
      }
      write(`${JSON.stringify(line)}\n`)
    }
  return { info: emit('info'), error: emit('error') }
}

const marks = new AsyncLocalStorage<{ id: string | null }>()

/** Request ids that a proxy in front may set. */
const GIVEN_ID = /^[\w-]{1,64}$/

/**
 * Runs the work for one request. The request's log lines and its 500, if any, share one id: `given`, if the
 * proxy in front is trusted and the id is well-formed, else an id created when first needed.
 */
export function withRequestId<T>(given: string | null, work: () => T): T {
  const id = given !== null && GIVEN_ID.test(given) ? given : null
  return marks.run({ id }, work)
}

/** The current request's id; null outside a request. */
export function currentRequestId(): string | null {
  const mark = marks.getStore()
  if (mark === undefined) return null
  mark.id ??= randomUUID()
  return mark.id
}
