import { codeOf } from '../../../src/domain/wire/operator-error.ts'

/** A statement SQLite refused, passed on from its thread with SQLite's own (extended) code. */
export class SqliteError extends Error {
  override name = 'SqliteError'
  readonly errcode: number
  constructor(message: string, errcode: number) {
    super(message)
    this.errcode = errcode
  }
}

/** Low byte of SQLite's codes for a disk or file that cannot serve right now. */
const SQLITE_UNAVAILABLE = new Set([
  5, // BUSY
  6, // LOCKED
  8, // READONLY
  10, // IOERR
  11, // CORRUPT
  13, // FULL
  14, // CANTOPEN
  26, // NOTADB
])

const SQLITE_UNIQUE = new Set([2067, 1555])

const POSTGRES_UNIQUE = '23505'

/** Serialization failure, deadlock: running the transaction again is the documented remedy. */
const POSTGRES_RETRYABLE = new Set(['40001', '40P01'])

/** Classes of SQLSTATE that concern the query, not the server's health. */
const POSTGRES_OUR_FAULT = /^(?:0[A-F]|2[0-9A-F]|3[0-9A-F]|42|44)/

const CONNECTION_LOST =
  /^\w*Error: (?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after|The store )/

/** True when the store is down, full, locked or read-only, so that 503 is the honest answer. */
export function isStoreUnavailable(error: unknown): boolean {
  if (error instanceof SqliteError) return SQLITE_UNAVAILABLE.has(error.errcode & 0xff)
  const code = codeOf(error)
  if (/^[0-9A-Z]{5}$/.test(code)) return !POSTGRES_OUR_FAULT.test(code)
  // pg has plain errors for a connection that ended or could not be made in time.
  return code !== '' ? /^E[A-Z]+$/.test(code) : CONNECTION_LOST.test(String(error))
}

export function isUniqueViolation(error: unknown): boolean {
  if (error instanceof SqliteError) return SQLITE_UNIQUE.has(error.errcode)
  return codeOf(error) === POSTGRES_UNIQUE
}

export function isRetryable(error: unknown): boolean {
  return isUniqueViolation(error) || POSTGRES_RETRYABLE.has(codeOf(error))
}
