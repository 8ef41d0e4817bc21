import { isDiskFull, OperatorError } from '../../src/domain/wire/operator-error.ts'

/**
 * Runs a command. What its operator can put right is printed as it reads and ends with exit code 1;
 * anything else is a fault of ours, and its stack says where.
 */
export async function runMain(command: () => Promise<void> | void): Promise<void> {
  try {
    await command()
  } catch (error) {
    console.error(error instanceof OperatorError ? error.message : (toDiskAdvice(error) ?? error))
    process.exitCode = 1
  }
}

/** What to do about a full disk; null where it is something else. */
export function toDiskAdvice(error: unknown): string | null {
  if (!isDiskFull(error)) return null
  const reason = error instanceof Error ? error.message : String(error)
  return `The disk is full (${reason}). What was there before stays as it was. Make room where OUT_DIR and STATE_DIR lie, then run the command again.`
}
