import { toCountText } from '../../../domain/operation/price-text.ts'
import type { Analytics } from '../../../domain/views/seller-views.ts'

const DAY = 86_400_000

type ListingClicks = Analytics['basic']['listings'][number]['clicks']

/**
 * The clicks of the last days, ready to draw and to read.
 *
 * @param length days that are shown; as many before them are compared
 * @param today milliseconds since the epoch; the last day of the plot (UTC)
 */
export function toClicksByDay(by_day: ListingClicks['by_day'], length: number, today: number) {
  const counts = new Map(by_day.map(({ date, clicks }) => [date, clicks]))
  const all = Array.from({ length: 2 * length }, (_, index) => {
    const date = toDate(today - (2 * length - 1 - index) * DAY)
    return { date, clicks: counts.get(date) ?? 0 }
  })
  const days = all.slice(length)
  const total = sumOf(days)
  const before = sumOf(all.slice(0, length))
  const top = days.reduce((best, day) => (day.clicks > best.clicks ? day : best))
  return {
    /** One for each day (UTC), oldest first; days without a click are there with 0. */
    days,
    total,
    highest: top.clicks,
    /** The same in words, for those who don't see the plot. */
    sentence:
      total === 0
        ? `No clicks in ${length} days.`
        : `${toCountText(total, 'click')} in ${length} days, most on ${top.date}: ${top.clicks}.`,
    /** Against as many days before; empty where there were none. */
    change: before === 0 ? '' : `${toPercent(total / before - 1)} on the ${length} days before`,
  }
}

const SOURCES: Readonly<Record<string, string>> = {
  web: 'these pages',
  api: 'the API',
  mcp: 'MCP clients',
  a2a: 'A2A agents',
  unknown: 'elsewhere',
}

/** @example toSourcesText({ web: 12, api: 3 }) → 'Came from these pages 12, the API 3.' */
export function toSourcesText(bySource: ListingClicks['by_src']): string {
  const named = Object.entries(bySource)
    .filter((entry): entry is [string, number] => (entry[1] ?? 0) > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([source, clicks]) => `${SOURCES[source] ?? source} ${clicks}`)
  return named.length === 0 ? '' : `Came from ${named.join(', ')}.`
}

function sumOf(days: readonly { clicks: number }[]): number {
  return days.reduce((sum, { clicks }) => sum + clicks, 0)
}

function toDate(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10)
}

/** With a sign that is a minus and no hyphen. */
function toPercent(share: number): string {
  const percent = Math.round(share * 100)
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent)} %`
}
