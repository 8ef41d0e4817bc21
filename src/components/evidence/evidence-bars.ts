import type { Day, Probe } from '../../domain/trust/evidence.ts'
import { DAY_MS } from '../../domain/wire/shapes.ts'
import { isUp } from '../../domain/wire/vocabulary.ts'

/** Days drawn. */
const SHOWN_DAYS = 30
/** A chart of fewer days says less than its numbers. */
const CHART_DAYS = 7

/** Settlements per day, the last thirty measured days; null with less than a week of them. */
export function toSettlementBars(days: readonly Day[]) {
  const [start, end] = [days[0]?.date, days.at(-1)?.date]
  if (start === undefined || end === undefined) return null
  if (Date.parse(end) - Date.parse(start) < (CHART_DAYS - 1) * DAY_MS) return null
  const dates = toDates(end)
  const byDate = new Map(days.map((day) => [day.date, day.settlements]))
  const counts = dates.map((date) => byDate.get(date) ?? 0)
  const most = counts.reduce((max, count) => Math.max(max, count), 1)
  const sum = counts.reduce((total, count) => total + count, 0)
  return {
    bars: counts.map((count) => ({ share: count / most })),
    text: `Settlements a day over ${SHOWN_DAYS} days: ${Math.round(sum)} in all, at most ${Math.round(most)} on one day`,
    ends: [dates[0], end],
  }
}

/** A day's probes as one bar: all good, some good, none good, or not probed. */
export function toProbeBars(probes: readonly Probe[]) {
  const end = probes.at(-1)?.at.slice(0, 10)
  if (end === undefined) return null
  const dates = toDates(end)
  const byDate = Map.groupBy(probes, ({ at }) => at.slice(0, 10))
  const bars = dates.map((date) => toBar(byDate.get(date) ?? []))
  const countOf = (tone: string) => bars.filter((bar) => bar.tone === tone).length
  return {
    bars,
    text: `Probes by day over ${SHOWN_DAYS} days: ${countOf('good')} good, ${countOf('part')} partly, ${countOf('bad')} failed, ${countOf('none')} without an answer that counts`,
    ends: [dates[0], end],
  }
}

/**
 * Our own faults, and services that cannot be probed, don't count. Height shows it too, for readers
 * who don't see the colours.
 */
function toBar(probes: readonly Probe[]) {
  const judged = probes.filter(({ outcome }) => outcome !== 'unknown' && outcome !== 'unprobeable')
  const good = judged.filter(isUp).length
  if (judged.length === 0) return { tone: 'none', share: 0.08 }
  if (good === judged.length) return { tone: 'good', share: 1 }
  return good > 0 ? { tone: 'part', share: 0.7 } : { tone: 'bad', share: 0.3 }
}

function toDates(end: string): string[] {
  const last = Date.parse(end)
  return Array.from({ length: SHOWN_DAYS }, (_, index) =>
    new Date(last - (SHOWN_DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  )
}
