/** The first wait before another try, doubled each time (milliseconds). */
const FIRST_WAIT = 250
/** The longest wait between two tries (milliseconds); who asks for more is asked by the caller. */
export const LONGEST_WAIT = 30_000

/** Statuses behind which the same read may soon succeed. */
const PASSING = new Set([429, 502, 503, 504])

/** True where the service may answer the same read differently in a moment. */
export function isPassing(status: number): boolean {
  return PASSING.has(status)
}

/**
 * Seconds a service asks to wait.
 *
 * @param now milliseconds since the epoch
 * @example readRetryAfter('7', 0) → 7; readRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 0) → 60
 */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}

/**
 * Milliseconds before the next try: what the service asked for, else exponential with full jitter,
 * so that clients that failed together don't come back together.
 *
 * @param tries made so far
 * @param chance from 0 to 1
 * @returns null when the service asks for more than `LONGEST_WAIT`
 */
export function toWait(
  tries: number,
  retryAfter: number | undefined,
  chance: number,
): number | null {
  if (retryAfter !== undefined)
    return retryAfter * 1000 > LONGEST_WAIT
      ? null
      : Math.max(retryAfter * 1000, FIRST_WAIT * chance)
  return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (tries - 1)) * chance
}
