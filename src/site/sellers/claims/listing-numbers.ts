import type { ListingView } from '../../../domain/views/listing-view.ts'
import type { Analytics } from '../../../domain/views/seller-views.ts'
import { make, partOf } from '../controls/elements.ts'
import { type ClicksByDay, toClicksByDay, toSourcesText } from './clicks-by-day.ts'

const SVG = 'http://www.w3.org/2000/svg'

const HEIGHT = 100

const STEP = 10

/** A day with one click is still seen beside a day with hundreds. */
const LOWEST_BAR = 3

const PLOT_DAYS = 30

type Numbers = Analytics['basic']['listings'][number]

/** Clicks, searches, calls and the score of an owned listing. Nothing is shown as zero that nobody counted. */
export function showNumbers(
  card: HTMLElement,
  numbers: Numbers | null,
  view: Pick<ListingView, 'page' | 'trust'> | null,
): void {
  const tiles = partOf(card, 'numbers')
  if (numbers !== null) {
    const clicks = toClicksByDay(numbers.clicks.by_day, PLOT_DAYS, Date.now())
    tiles.append(
      makeNumber(`Clicks, ${PLOT_DAYS} days`, String(clicks.total), clicks.change),
      makeNumber('Shown in searches, 90 days', String(numbers.search_impressions ?? 0), ''),
      makeNumber('Calls relayed, 90 days', String(numbers.calls), ''),
    )
    const panel = partOf(card, 'clicks')
    const [first, last] = [clicks.days[0], clicks.days.at(-1)]
    if (clicks.total > 0)
      panel.append(
        createClicksPlot(clicks),
        make('p', 'axis', make('span', '', first?.date ?? ''), make('span', '', last?.date ?? '')),
      )
    panel.append(make('p', 'small', `${clicks.sentence} ${toSourcesText(numbers.clicks.by_src)}`))
    if (numbers.clicks.total > 0)
      panel.append(
        make(
          'details',
          '',
          make('summary', '', 'By day, 90 days'),
          createClicksTable(numbers.clicks.by_day),
        ),
      )
    panel.hidden = false
  }
  if (view === null) return
  const why = make('a', '', 'why')
  why.href = view.page
  const { score } = view.trust
  tiles.append(makeNumber('Trust', score === null ? 'unmeasured' : String(score), why))
}

function makeNumber(label: string, value: string, note: string | Node): HTMLElement {
  return make(
    'div',
    '',
    make('dt', '', label),
    make('dd', 'number', value),
    note === '' ? [] : make('dd', 'number-note', note),
  )
}

/** Clicks by day as bars, with the sentence that says the same. */
function createClicksPlot({ days, highest, sentence }: ClicksByDay): SVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('class', 'plot')
  svg.setAttribute('viewBox', `0 0 ${days.length * STEP} ${HEIGHT}`)
  svg.setAttribute('preserveAspectRatio', 'none')
  svg.setAttribute('role', 'img')
  svg.setAttribute('aria-label', sentence)
  for (const y of [0.5, HEIGHT / 2, HEIGHT - 0.5]) svg.append(createLine(days.length * STEP, y))
  for (const [index, { date, clicks }] of days.entries()) {
    if (clicks === 0) continue
    const height = Math.max(LOWEST_BAR, (clicks / highest) * HEIGHT)
    const bar = createShape('rect', {
      x: index * STEP + 1,
      y: HEIGHT - height,
      width: STEP - 2,
      height,
    })
    const title = document.createElementNS(SVG, 'title')
    title.textContent = `${date}: ${clicks}`
    bar.append(title)
    svg.append(bar)
  }
  return svg
}

/** Every day with a click, newest first. */
function createClicksTable(by_day: readonly { date: string; clicks: number }[]) {
  const rows = [...by_day]
    .filter(({ clicks }) => clicks > 0)
    .reverse()
    .map(({ date, clicks }) => {
      const heading = make('th', '', date)
      heading.scope = 'row'
      return make('tr', '', heading, make('td', '', String(clicks)))
    })
  const headings = ['Day', 'Clicks'].map((text) => {
    const heading = make('th', '', text)
    heading.scope = 'col'
    return heading
  })
  return make(
    'table',
    'day-table',
    make('thead', '', make('tr', '', headings)),
    make('tbody', '', rows),
  )
}

function createLine(width: number, y: number): SVGElement {
  return createShape('line', { x1: 0, x2: width, y1: y, y2: y })
}

function createShape(name: 'rect' | 'line', attributes: Record<string, number>): SVGElement {
  const shape = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, String(value))
  return shape
}
