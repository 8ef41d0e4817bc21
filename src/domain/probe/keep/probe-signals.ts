import type { Probe, Signals } from '../../trust/evidence.ts'

const HOUR_MS = 3_600_000

/** Fewer probes than this say nothing about a share of time, or about the slowest answers. */
const LEAST_PROBES = 3

/**
 * Signals from our own probes, for listings no provider measures. A service is up when it answered
 * as itself, also where it asks for credentials first. "Now" is the last probe, so that the same
 * content gives the same signals.
 */
export function toProbeSignals(probes: readonly Probe[]): Signals {
  const conclusive = probes
    .filter(({ outcome }) => outcome !== 'unknown' && outcome !== 'unprobeable')
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
  const last = conclusive.at(-1)
  if (last === undefined) return {}
  const within = (hours: number) =>
    conclusive.filter(({ at }) => Date.parse(last.at) - Date.parse(at) < hours * HOUR_MS)
  const month = within(30 * 24)
  const times = month.flatMap(({ outcome, ms }) =>
    outcome === 'spoke' && ms !== undefined ? [ms] : [],
  )
  return {
    status: isUp(last) ? 'online' : 'offline',
    ...toUptime('uptime_24h', within(24)),
    ...toUptime('uptime_30d', month),
    ...(times.length >= LEAST_PROBES && { p95_ms: toPercentile(times, 0.95) }),
  }
}

function isUp({ outcome }: Probe): boolean {
  return outcome === 'spoke' || outcome === 'gated'
}

function toUptime(name: 'uptime_24h' | 'uptime_30d', probes: readonly Probe[]): Signals {
  if (probes.length < LEAST_PROBES) return {}
  const share = probes.filter(isUp).length / probes.length
  return { [name]: Math.round(share * 10_000) / 100 }
}

/** Nearest rank. */
function toPercentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}
