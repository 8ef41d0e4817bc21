/** Output for progress: a terminal gets one line that is rewritten, a log a line now and then. */
export interface ProgressStream {
  isTTY?: boolean | undefined
  columns?: number | undefined
  write(text: string): unknown
}

export interface Progress {
  update(done: number): void
  /** Ends the line with the final number. */
  end(): void
}

const TTY_EVERY_MS = 80
const LOG_EVERY_MS = 5000
const BAR_WIDTH = 30

/**
 * @param total null where it is not known beforehand: the bar is then a count.
 * @param now milliseconds
 */
export function createProgress(
  label: string,
  total: number | null,
  { progress: stream, now }: { progress: ProgressStream; now: () => number },
): Progress {
  const isTerminal = stream.isTTY === true
  let shownAt = now()
  let done = 0
  const show = () => {
    shownAt = now()
    const text = `${label} ${formatProgress(done, total)}`
    stream.write(
      isTerminal ? `\r${text.slice(0, (stream.columns ?? 80) - 1)}\u001b[K` : `${text}\n`,
    )
  }
  return {
    update(count) {
      done = count
      if (now() - shownAt >= (isTerminal ? TTY_EVERY_MS : LOG_EVERY_MS)) show()
    },
    end() {
      show()
      if (isTerminal) stream.write('\n')
    },
  }
}

/** @example formatProgress(1500, 3000) → '[###############---------------] 1500 of 3000' */
export function formatProgress(done: number, total: number | null): string {
  if (total === null || total === 0) return String(done)
  const filled = Math.round((BAR_WIDTH * Math.min(done, total)) / total)
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${done} of ${total}`
}
