import type { ListingView } from '../../../domain/views/listing-view.ts'
import type { Analytics } from '../../../domain/views/seller-views.ts'
import { make, partOf } from '../controls/elements.ts'
import { toClicksByDay, toSourcesText } from './clicks-by-day.ts'
import { createClicksPlot, createClicksTable } from './clicks-plot.ts'

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
