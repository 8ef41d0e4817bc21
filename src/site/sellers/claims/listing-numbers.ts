import { toCountText } from '../../../domain/operation/price-text.ts'
import type { ListingView } from '../../../domain/views/listing-view.ts'
import type { ListingNumbers } from '../../../domain/views/seller-pages.ts'
import { html, type Markup } from '../../frame/html.ts'

const DAY = 86_400_000
const HEIGHT = 100
const STEP = 10
/** A day with one click is still visible next to a day with hundreds. */
const LOWEST_BAR = 3
const PLOT_DAYS = 30

/**
 * Clicks, searches, calls and the score of an owned listing. Unknown is not shown as zero.
 *
 * @param now milliseconds since the epoch
 */
export function toNumbers(
  numbers: ListingNumbers | null,
  view: Pick<ListingView, 'page' | 'trust'> | null,
  now: number,
): Markup {
  const clicks = numbers && toClicks(numbers, now)
  const counted = clicks && [
    toNumber(`Clicks, ${PLOT_DAYS} days`, clicks.total, clicks.change),
    toNumber(`Shown in searches, ${PLOT_DAYS} days`, numbers.last_30_days.search_impressions),
    toNumber(`Calls relayed, ${PLOT_DAYS} days`, numbers.last_30_days.calls),
  ]
  const why = view && html`<a href="${view.page}">why</a>`
  const trust = view && toNumber('Trust', view.trust.score ?? 'unmeasured', why)
  return html`<dl class="numbers">${counted}${trust}</dl>`
}

function toNumber(label: string, value: string | number, note: Markup | string | null = '') {
  const small = note !== '' && html`<dd class="number-note">${note}</dd>`
  return html`<div><dt>${label}</dt><dd class="number">${value}</dd>${small}</div>`
}

/** Clicks by day as bars, with a sentence that says the same, and then each day's number. */
export function toClicksPanel(numbers: ListingNumbers, now: number): Markup {
  const { by_day, by_src, total } = numbers.clicks
  const clicks = toClicks(numbers, now)
  const [first, last] = [clicks.days[0], clicks.days.at(-1)]
  const axis = html`<p class="axis"><span>${first?.date}</span><span>${last?.date}</span></p>`
  const days = by_day.filter(({ clicks }) => clicks > 0).reverse()
  const rows = days.map(
    ({ date, clicks }) => html`<tr><th scope="row">${date}</th><td>${clicks}</td></tr>`,
  )
  const table = html`
    <details><summary>By day, 90 days</summary>
      <table class="day-table">
        <thead><tr><th scope="col">Day</th><th scope="col">Clicks</th></tr></thead>
        <tbody>${rows}</tbody></table></details>`
  return html`
    <section class="panel"><h3>Clicks by day</h3>
      ${clicks.total > 0 && [toPlot(clicks), axis]}
      <p class="small">${clicks.sentence} ${toSourcesText(by_src)}</p>
      ${total > 0 && table}</section>`
}

function toClicks({ clicks }: ListingNumbers, now: number) {
  return toClicksByDay(clicks.by_day, PLOT_DAYS, now)
}

function toPlot({ days, highest, sentence }: ReturnType<typeof toClicks>): Markup {
  const width = days.length * STEP
  const lines = [0.5, HEIGHT / 2, HEIGHT - 0.5].map(
    (y) => html`<line x1="0" x2="${width}" y1="${y}" y2="${y}"/>`,
  )
  const bars = days.map(({ date, clicks }, index) => {
    const height = Math.max(LOWEST_BAR, (clicks / highest) * HEIGHT)
    const place = html`x="${index * STEP + 1}" y="${HEIGHT - height}"`
    const size = html`width="${STEP - 2}" height="${height}"`
    return clicks > 0 && html`<rect ${place} ${size}><title>${date}: ${clicks}</title></rect>`
  })
  return html`
    <svg class="plot" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${sentence}">
      ${lines}${bars}</svg>`
}

/**
 * The clicks of the last days, ready to draw and to read.
 *
 * @param length days that are shown; as many before them are compared
 * @param today milliseconds since the epoch; the last day of the plot (UTC)
 */
export function toClicksByDay(
  by_day: ListingNumbers['clicks']['by_day'],
  length: number,
  today: number,
) {
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
    /** Compared with as many days before; empty where there were none. */
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

/** With its own period: the bars beside it show fewer days. @example toSourcesText({ web: 12, api: 3 }) → '15 in 90 days: these pages 12, the API 3.' */
export function toSourcesText(bySource: ListingNumbers['clicks']['by_src']): string {
  const named = Object.entries(bySource)
    .filter((entry): entry is [string, number] => (entry[1] ?? 0) > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([source, clicks]) => `${SOURCES[source] ?? source} ${clicks}`)
  const total = Object.values(bySource).reduce((sum: number, clicks) => sum + (clicks ?? 0), 0)
  return named.length === 0 ? '' : `${total} in 90 days: ${named.join(', ')}.`
}

function sumOf(days: readonly { clicks: number }[]): number {
  return days.reduce((sum, { clicks }) => sum + clicks, 0)
}

function toDate(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10)
}

/** With a real minus sign, not a hyphen. */
function toPercent(share: number): string {
  const percent = Math.round(share * 100)
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent)} %`
}
