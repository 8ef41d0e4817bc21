import { randomUUID } from 'node:crypto'
import type { Log, LogFields } from '../ports/log.ts'
import { currentRequestId } from '../ports/log.ts'
import type { MakeProblem } from './problem.ts'

/** Logs a failure of ours, and makes the 500 that only says where to find it in the log. */
export type ReportFailure = (event: string, error: unknown, fields?: LogFields) => Response

export function createFailureReport({
  log,
  problem,
}: {
  log: Log
  problem: MakeProblem
}): ReportFailure {
  return function report(event, error, fields = {}) {
    const id = currentRequestId() ?? randomUUID()
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    log.error(event, { id, ...fields, reason })
    return problem('internal', {
      detail: `Quote this id when you report it: ${id}.`,
      extra: { id },
    })
  }
}
