import type { Probe } from '../trust/evidence.ts'

/** How many probes in a row, and over how long. */
export const LIVE_TESTED = { probes: 3, spanHours: 24 } as const

const HOUR_MS = 3_600_000

/**
 * The earned Live-Tested badge: the last three probes, over at least 24 hours, all spoke the
 * protocol. One that is `unknown` was our own failure: it earns nothing and costs nothing.
 */
export function isLiveTested(probes: readonly Probe[]): boolean {
  const times = probes
    .filter(({ outcome }) => outcome !== 'unknown')
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, LIVE_TESTED.probes)
    .map((probe) => ({ at: Date.parse(probe.at), spoke: probe.outcome === 'spoke' }))
  const [newest] = times
  const oldest = times.at(-1)
  if (newest === undefined || oldest === undefined || times.length < LIVE_TESTED.probes)
    return false
  return (
    times.every((probe) => probe.spoke) && newest.at - oldest.at >= LIVE_TESTED.spanHours * HOUR_MS
  )
}
