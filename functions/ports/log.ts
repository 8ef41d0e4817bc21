import { currentRequestId } from './request-id.ts'

/**
 * One JSON object a line on standard output, with fixed keys. Values are strings cut at 256
 * characters (JSON escapes control characters), so foreign text cannot forge a line. Callers never
 * pass cookies, tokens, mail addresses, payment headers or whole URLs.
 */
export interface Log {
  info(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
}

export type LogFields = Record<string, string | number | boolean | null>

const MAX_VALUE_LENGTH = 256

/** Lines written for a request carry its id as `request`. */
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
