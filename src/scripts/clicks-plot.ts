const SVG = 'http://www.w3.org/2000/svg'
const DAY = 86_400_000
const HEIGHT = 60

interface Day {
  date: string
  clicks: number
}

/**
 * Clicks by day as bars. Days without a click are missing in the answer and drawn as gaps.
 *
 * @param today last day of the plot; times are UTC as in the answer.
 */
export function createClicksPlot(days: readonly Day[], length: number, today: Date): SVGElement {
  const clicks = new Map(days.map((day) => [day.date, day.clicks]))
  const highest = Math.max(1, ...clicks.values())
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('class', 'plot')
  svg.setAttribute('viewBox', `0 0 ${length * 6} ${HEIGHT + 1}`)
  svg.setAttribute('preserveAspectRatio', 'none')
  svg.setAttribute('role', 'img')
  svg.setAttribute('aria-label', toLabel(days))
  svg.append(toBar(0, HEIGHT, length * 6, 1, 'meter-track'))
  for (let index = 0; index < length; index++) {
    const date = new Date(today.getTime() - (length - 1 - index) * DAY).toISOString().slice(0, 10)
    const count = clicks.get(date) ?? 0
    const height = (count / highest) * HEIGHT
    if (count > 0)
      svg.append(toBar(index * 6 + 1, HEIGHT - height, 4, height, 'meter-fill', date, count))
  }
  return svg
}

function toBar(
  x: number,
  y: number,
  width: number,
  height: number,
  name: string,
  date = '',
  count = 0,
): SVGElement {
  const bar = document.createElementNS(SVG, 'rect')
  for (const [key, value] of Object.entries({ x, y, width, height }))
    bar.setAttribute(key, String(value))
  bar.setAttribute('class', name)
  if (date !== '') {
    const title = document.createElementNS(SVG, 'title')
    title.textContent = `${date}: ${count}`
    bar.append(title)
  }
  return bar
}

function toLabel(days: readonly Day[]): string {
  const active = days.filter(({ clicks }) => clicks > 0)
  if (active.length === 0) return 'No clicks yet'
  return `Clicks by day: ${active.map(({ date, clicks }) => `${date} ${clicks}`).join(', ')}`
}
