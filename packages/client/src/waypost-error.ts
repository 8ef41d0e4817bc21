import type { Problem } from './answers.ts'

export interface WaypostErrorFacts {
  /** HTTP status; 0 if no answer came. */
  status?: number
  problem?: Problem
  /** Seconds to wait before a retry, if the service named a time. */
  retryAfter?: number
  cause?: unknown
}

/** Every failure of this client, with the service's own problem document if there is one. */
export class WaypostError extends Error {
  override readonly name = 'WaypostError'
  /**
   * One of the service's problem codes, or what this client found: `unreachable` and `timeout`
   * before an answer came, `changed` and `over-budget` before anything was signed, `payment-unsure`
   * if a paid call was interrupted, `unreadable` for an unexpected answer.
   */
  readonly code: string
  readonly status: number
  readonly problem: Problem | undefined
  readonly retryAfter: number | undefined

  constructor(code: string, message: string, facts: WaypostErrorFacts = {}) {
    super(message, { cause: facts.cause })
    this.code = code
    this.status = facts.status ?? 0
    this.problem = facts.problem
    this.retryAfter = facts.retryAfter
  }
}
