import type { Evidence, Probe } from '../../trust/evidence.ts'
import { largestOf } from '../../wire/extremes.ts'
import type { ProbePlan } from './probe-plan.ts'

/** A plan and when the listing was last asked. */
export interface Candidate {
  plan: ProbePlan
  /** Milliseconds since the epoch; null for never. */
  lastAt: number | null
  /** The seller asked to be left alone until then. */
  notBefore: number
}

export function toCandidate(
  plan: ProbePlan,
  { probes = [], interface: seen }: Pick<Evidence, 'probes' | 'interface'>,
): Candidate {
  const times = probes.map(({ at }) => Date.parse(at))
  const lastAt = times.length === 0 ? null : largestOf(times)
  const last = probes.filter(({ at }) => Date.parse(at) === lastAt)
  // Any of its operations may have asked for it, at its own time.
  const answers = (seen?.operations ?? []).flatMap(({ seen: answer }) =>
    answer === undefined ? [] : [{ ...answer, at: answer.at ?? seen?.at ?? '' }],
  )
  const waits = [...last, ...answers].map(
    (answer) => (Date.parse(answer.at) || 0) + waitOf(answer) * 1000,
  )
  return { plan, lastAt, notBefore: largestOf(waits, 0) }
}

/**
 * Who is asked, in order: listings never probed first, then the stalest. A listing without an
 * endpoint is written down once and left alone; a seller's `Retry-After` is honoured.
 *
 * @param staleMs leaves out those probed less than so long ago; 0 for nobody
 */
export function orderByNeed(
  candidates: readonly Candidate[],
  { now, staleMs }: { now: number; staleMs: number },
): ProbePlan[] {
  return candidates
    .filter(({ plan, lastAt, notBefore }) => {
      if (lastAt === null) return true
      if (plan.handshake.kind === 'none') return false
      return now - lastAt >= staleMs && now >= notBefore
    })
    .toSorted((a, b) => {
      const [left, right] = [a.lastAt ?? -1, b.lastAt ?? -1]
      return left === right ? (a.plan.id < b.plan.id ? -1 : 1) : left - right
    })
    .map(({ plan }) => plan)
}

/** Seconds that the last answer asked for; written by `judgeStatus`. */
function waitOf({ outcome, saw = '' }: Pick<Probe, 'outcome' | 'saw'>): number {
  if (outcome !== 'unknown') return 0
  return Number(/, retry after (\d{1,6}) s$/.exec(saw)?.[1] ?? 0)
}
