import type { Refusal, RefusalReason } from '../facts/refusal.ts'

/** A source that lost more than this share of its listings at once has a fault, not a bad week. */
const LEAST_SHARE = 0.5

/** A page that only says what is gone or old is no sign of a fault. */
const HONEST: ReadonlySet<RefusalReason> = new Set([
  'deleted',
  'deprecated',
  'not_latest',
  'opted_out',
])

/** @returns why a run should not be believed, or null. */
export function findSuspicion(run: {
  read: number
  refused: readonly Refusal[]
  taken: number
  /** Null for a run that did not read everything, or the first. */
  takenBefore: number | null
}): string | null {
  const { read, refused, taken, takenBefore } = run
  if (taken === 0 && read > 0 && refused.some(({ reason }) => !HONEST.has(reason)))
    return `every one of ${read} rows was refused`
  if (takenBefore !== null && taken < takenBefore * LEAST_SHARE)
    return `${taken} listings where the last whole run took ${takenBefore}`
  return null
}
