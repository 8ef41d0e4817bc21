/** What the operator can put right. A command prints its message alone, without a stack. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}

/** The code that Node, undici or a database gives an error; empty where it has none. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

/** As Node, SQLite, bundlers written in Rust and disk quotas say it, with or without a code. */
const DISK_FULL = /\bENOSPC\b|\bEDQUOT\b|no space left on device|disk quota exceeded|disk is full/i

export function isDiskFull(error: unknown): boolean {
  return DISK_FULL.test(String(error))
}
