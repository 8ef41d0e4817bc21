import type { Day, Probe } from '../../domain/trust/evidence.ts'
import { DAY_MS } from '../../domain/wire/dates.ts'
import { html } from '../frame/html.ts'

/** Days drawn, and the width of one, in units of the drawing. */
const SHOWN_DAYS = 30
const STEP = 10
/** Width of a bar: the stroke of its line, in `listing.css` too. */
const BAR = 8
const BARS_WIDTH = SHOWN_DAYS * STEP - 2
const BARS_HEIGHT = 48
/** A chart of fewer days says less than its numbers. */
const CHART_DAYS = 7

/** One path for each colour, and a sentence that says what it shows. */
export interface Bars<Colour extends string> {
  paths: Partial<Record<Colour, string>>
  text: string
  first: string
  last: string
}

/** The drawing, under its title and total. */
export function toFigure({ paths, text, first, last }: Bars<string>, title: string, side: string) {
  const drawn = Object.entries(paths).map(
    ([colour, path]) => html`<path class="bar-${colour}" d="${path}"></path>`,
  )
  return html`
    <figure>
      <figcaption><b>${title}</b><span>${side}</span></figcaption>
      <svg viewBox="0 0 ${BARS_WIDTH} ${BARS_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${text}">
        ${drawn}</svg>
      <p class="axis"><span>${first}</span><span>${last}</span></p></figure>`
}

/** Settlements per day, the last thirty measured days; null with less than a week of them. */
export function toSettlementBars(days: readonly Day[]): Bars<'money'> | null {
  const [start, end] = [days[0]?.date, days.at(-1)?.date]
  if (start === undefined || end === undefined) return null
  if (Date.parse(end) - Date.parse(start) < (CHART_DAYS - 1) * DAY_MS) return null
  const dates = toDates(end)
  const byDate = new Map(days.map((day) => [day.date, day.settlements]))
  const counts = dates.map((date) => byDate.get(date) ?? 0)
  const most = counts.reduce((max, count) => Math.max(max, count), 1)
  const path = counts.map((count, index) => toBar(index, (count / most) * BARS_HEIGHT)).join('')
  const sum = counts.reduce((total, count) => total + count, 0)
  return {
    paths: { money: path },
    text: `Settlements a day over ${SHOWN_DAYS} days: ${Math.round(sum)} in all, at most ${Math.round(most)} on one day`,
    first: dates[0] ?? end,
    last: end,
  }
}

export type ProbeColour = 'good' | 'part' | 'bad' | 'none'

/** A day's probes as one cell: all good, some good, none good, or not probed. */
export function toProbeBars(probes: readonly Probe[]): Bars<ProbeColour> | null {
  const end = probes.at(-1)?.at.slice(0, 10)
  if (end === undefined) return null
  const dates = toDates(end)
  const byDate = Map.groupBy(probes, ({ at }) => at.slice(0, 10))
  const colours = dates.map((date) => toColour(byDate.get(date) ?? []))
  const paths: Bars<ProbeColour>['paths'] = {}
  for (const [index, colour] of colours.entries())
    paths[colour] = (paths[colour] ?? '') + toBar(index, HEIGHTS[colour])
  const countOf = (colour: ProbeColour) => colours.filter((own) => own === colour).length
  return {
    paths,
    text: `Probes by day over ${SHOWN_DAYS} days: ${countOf('good')} good, ${countOf('part')} partly, ${countOf('bad')} failed, ${countOf('none')} without an answer that counts`,
    first: dates[0] ?? end,
    last: end,
  }
}

/** Height shows it too, for readers who don't see the colours. */
const HEIGHTS: Record<ProbeColour, number> = { good: 48, part: 34, bad: 14, none: 4 }

/** Our own faults, and services that cannot be probed, don't count. */
function toColour(probes: readonly Probe[]): ProbeColour {
  const judged = probes.filter(({ outcome }) => outcome !== 'unknown' && outcome !== 'unprobeable')
  const good = judged.filter(({ outcome }) => outcome === 'spoke' || outcome === 'gated').length
  if (judged.length === 0) return 'none'
  if (good === judged.length) return 'good'
  return good > 0 ? 'part' : 'bad'
}

function toDates(end: string): string[] {
  const last = Date.parse(end)
  return Array.from({ length: SHOWN_DAYS }, (_, index) =>
    new Date(last - (SHOWN_DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  )
}

function toBar(index: number, height: number): string {
  const tall = Math.round(height)
  return tall === 0 ? '' : `M${index * STEP + BAR / 2} ${BARS_HEIGHT}v-${tall}`
}
