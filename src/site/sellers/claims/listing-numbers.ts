import type { ListingView } from '../../../domain/views/listing-view.ts'
import type { Analytics } from '../../../domain/views/seller-views.ts'
import { html, type Markup } from '../../frame/html.ts'
import { toClicksByDay, toSourcesText } from './clicks-by-day.ts'

const HEIGHT = 100
const STEP = 10
/** A day with one click is still seen beside a day with hundreds. */
const LOWEST_BAR = 3
const PLOT_DAYS = 30

export type Numbers = Analytics['basic']['listings'][number]

/** Clicks, searches, calls and the score of an owned listing. Nothing is shown as zero that nobody counted. */
export function toNumbers(
  numbers: Numbers | null,
  view: Pick<ListingView, 'page' | 'trust'> | null,
): Markup {
  const clicks = numbers && toClicks(numbers)
  const counted = clicks && [
    toNumber(`Clicks, ${PLOT_DAYS} days`, clicks.total, clicks.change),
    toNumber('Shown in searches, 90 days', numbers.search_impressions ?? 0),
    toNumber('Calls relayed, 90 days', numbers.calls),
  ]
  const why = view && html`<a href="${view.page}">why</a>`
  const trust = view && toNumber('Trust', view.trust.score ?? 'unmeasured', why)
  return html`<dl class="numbers">${counted}${trust}</dl>`
}

function toNumber(
  label: string,
  value: string | number,
  note: Markup | string | null = '',
): Markup {
  const small = note !== '' && html`<dd class="number-note">${note}</dd>`
  return html`<div><dt>${label}</dt><dd class="number">${value}</dd>${small}</div>`
}

/** Clicks by day as bars, with the sentence that says the same, and each day's number behind it. */
export function toClicksPanel(numbers: Numbers): Markup {
  const { by_day, by_src, total } = numbers.clicks
  const clicks = toClicks(numbers)
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

function toClicks({ clicks }: Numbers) {
  return toClicksByDay(clicks.by_day, PLOT_DAYS, Date.now())
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
