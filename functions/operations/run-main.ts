import { OperatorError } from '../../src/domain/wire/operator-error.ts'

/**
 * Runs a command. What its operator can put right is printed as it reads and ends with exit code 1;
 * anything else is a fault of ours, and its stack says where.
 */
export async function runMain(command: () => Promise<void> | void): Promise<void> {
  try {
    await command()
  } catch (error) {
    console.error(error instanceof OperatorError ? error.message : error)
    process.exitCode = 1
  }
}
