import { BodyStalledError, SellerTimeoutError } from './call-errors.ts'
import type { RelayLimits } from './relay-limits.ts'

/**
 * One clock for a call, ours alone: undici's timers start again with every 1xx answer and with
 * every byte, so a stream of 103 would hold a call for ever.
 */
export interface AnswerClock {
  /** The body is on its way to the seller; called again with each chunk. */
  uploading(isCallerSlow: () => boolean): void
  /** Everything was sent; the final headers are due. Later calls change nothing. */
  awaitingHeaders(): void
  /** The answer's body moves; called again with each chunk. */
  streaming(): void
  /** The caller takes no more for now: time that is not the seller's, until it streams again. */
  waitingForCaller(): void
  stop(): void
}

export function createAnswerClock(
  limits: RelayLimits,
  isPaid: boolean,
  onOver: (error: Error) => void,
): AnswerClock {
  let timer: NodeJS.Timeout | undefined
  let phase: 'request' | 'headers' | 'body' | 'caller' | null = null
  const start = (next: 'request' | 'headers' | 'body', ms: number, fail: () => Error) => {
    if (phase === next) {
      timer?.refresh()
      return
    }
    clearTimeout(timer)
    phase = next
    timer = setTimeout(() => onOver(fail()), ms)
  }
  return {
    uploading(isCallerSlow) {
      if (phase !== null && phase !== 'request') return
      start('request', limits.idleBodyMs, () =>
        isCallerSlow() ? new BodyStalledError('no body') : new SellerTimeoutError('request'),
      )
    },
    awaitingHeaders() {
      if (phase !== null && phase !== 'request') return
      const ms = isPaid ? limits.paidResponseHeadersMs : limits.responseHeadersMs
      start('headers', ms, () => new SellerTimeoutError('headers'))
    },
    streaming() {
      start('body', limits.idleBodyMs, () => new SellerTimeoutError('body'))
    },
    waitingForCaller() {
      clearTimeout(timer)
      phase = 'caller'
    },
    stop() {
      clearTimeout(timer)
    },
  }
}
