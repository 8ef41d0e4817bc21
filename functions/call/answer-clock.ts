import { BodyStalledError, SellerTimeoutError } from './call-problem.ts'
import type { RelayLimits } from './relay-limits.ts'

/**
 * One clock for a call, ours alone: a timer of the connection starts again with every byte, so a
 * stream of 103 would hold a call for ever.
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
  { idleBodyMs }: Pick<RelayLimits, 'idleBodyMs'>,
  /** For the headers of the final answer, milliseconds. */
  headersMs: number,
  onOver: (error: Error) => void,
): AnswerClock {
  const timer = createPutOffTimer()
  let phase: 'request' | 'headers' | 'body' | 'caller' | null = null
  return {
    uploading(isCallerSlow) {
      if (phase !== null && phase !== 'request') return
      phase = 'request'
      timer.start(idleBodyMs, () =>
        onOver(
          isCallerSlow() ? new BodyStalledError('no body') : new SellerTimeoutError('request'),
        ),
      )
    },
    awaitingHeaders() {
      if (phase !== null && phase !== 'request') return
      phase = 'headers'
      timer.start(headersMs, () => onOver(new SellerTimeoutError('headers')))
    },
    streaming() {
      phase = 'body'
      timer.start(idleBodyMs, () => onOver(new SellerTimeoutError('body')))
    },
    waitingForCaller() {
      phase = 'caller'
      timer.stop()
    },
    stop: () => timer.stop(),
  }
}

interface PutOffTimer {
  start(ms: number, work: () => void): void
  stop(): void
}

/**
 * A timer that is started anew with every chunk, at the price of noting the time: what is set already
 * and ends early only looks again then.
 */
function createPutOffTimer(): PutOffTimer {
  let timer: NodeJS.Timeout | undefined
  let endsAt = 0
  let dueAt = 0
  let due: (() => void) | null = null
  const arm = (ms: number) => {
    clearTimeout(timer)
    endsAt = dueAt
    timer = setTimeout(look, ms)
  }
  const look = () => {
    timer = undefined
    const left = dueAt - performance.now()
    if (due !== null && left > 0) arm(Math.ceil(left))
    else due?.()
  }
  return {
    start(ms, work) {
      dueAt = performance.now() + ms
      due = work
      if (timer === undefined || dueAt < endsAt) arm(ms)
    },
    stop() {
      due = null
      clearTimeout(timer)
      timer = undefined
    },
  }
}
