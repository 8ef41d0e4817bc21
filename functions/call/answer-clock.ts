import { CallAborted } from './call-problem.ts'
import type { RelayLimits } from './relay-limits.ts'

export type AnswerClock = ReturnType<typeof createAnswerClock>

type Phase = 'request' | 'headers' | 'body' | 'caller'

/**
 * One clock for a call, separate from the connection's: that one restarts with every byte, so a
 * stream of 103s would hold a call for ever.
 *
 * @param headersMs for the headers of the final answer (milliseconds)
 */
export function createAnswerClock(
  { idleBodyMs }: Pick<RelayLimits, 'idleBodyMs'>,
  headersMs: number,
  onOver: (error: Error) => void,
) {
  let timer: NodeJS.Timeout | undefined
  let phase: Phase | null = null
  const start = (next: Phase, ms: number, isCallerSlow = () => false) => {
    if (phase === next) return void timer?.refresh()
    phase = next
    clearTimeout(timer)
    timer = setTimeout(() => onOver(new CallAborted(isCallerSlow() ? 'stalled' : 'late')), ms)
  }
  const isAnswered = () => phase === 'headers' || phase === 'body' || phase === 'caller'
  return {
    /** The body is on its way to the seller; called again with each chunk. */
    uploading(isCallerSlow: () => boolean): void {
      if (!isAnswered()) start('request', idleBodyMs, isCallerSlow)
    },
    /** Everything was sent; the final headers are due. Later calls have no effect. */
    awaitingHeaders(): void {
      if (!isAnswered()) start('headers', headersMs)
    },
    /** The answer's body moves; called again with each chunk. */
    streaming: () => start('body', idleBodyMs),
    /** The caller reads no more for now: this time is not the seller's, until data flows again. */
    waitingForCaller(): void {
      phase = 'caller'
      clearTimeout(timer)
    },
    stop: () => clearTimeout(timer),
  }
}
