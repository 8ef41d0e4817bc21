import type { Probe } from '../../trust/evidence.ts'

const DAY_MS = 86_400_000
const RECENT = 10
const STRIP_DAYS = 30

export type HandshakesView = NonNullable<ReturnType<typeof toHandshakesView>>

/**
 * The last ones, newest first; and 30 days, oldest first, up to the newest probe's. `up` counts
 * answers of the service, including requests for credentials; failures of nobody's fault don't.
 */
export function toHandshakesView(probes: readonly Probe[]) {
  const sorted = probes.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
  const [newest] = sorted
  if (newest === undefined) return null
  const counted = sorted.filter(isTelling)
  const byDay = Map.groupBy(counted, ({ at }) => at.slice(0, 10))
  const days = Array.from({ length: STRIP_DAYS }, (_, at) => {
    const moment = Date.parse(newest.at) - (STRIP_DAYS - 1 - at) * DAY_MS
    const date = new Date(moment).toISOString().slice(0, 10)
    const there = byDay.get(date) ?? []
    const up = there.filter(({ outcome }) => outcome === 'spoke' || outcome === 'gated')
    return { date, probes: there.length, up: up.length }
  })
  return { recent: sorted.slice(0, RECENT), days }
}

/** The outcome of the newest probe that says something about the service. */
export function newestOutcome(probes: readonly Probe[]): Probe['outcome'] | undefined {
  const sorted = probes.filter(isTelling).sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
  return sorted[0]?.outcome
}

/** Failures of nobody's fault say nothing. */
function isTelling({ outcome }: Probe): boolean {
  return outcome !== 'unknown' && outcome !== 'unprobeable'
}
