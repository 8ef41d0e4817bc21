/** An error the operator can fix. A command prints only its message, without a stack. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}

/** The code that Node, undici or a database gives an error; empty where it has none. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

/** As reported by Node, SQLite, bundlers in Rust and disk quotas, with or without a code. */
const DISK_FULL = /\bENOSPC\b|\bEDQUOT\b|no space left on device|disk quota exceeded|disk is full/i

export function isDiskFull(error: unknown): boolean {
  return DISK_FULL.test(String(error))
}
