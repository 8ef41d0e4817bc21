import { setAttribute, setText } from './reuse.ts'
import type { SearchRow } from './search-row.ts'

/** Fills a row of results; its score, or the word for none, is taken from the template. */
export function fillHit(template: HTMLTemplateElement): (hit: Element, row: SearchRow) => void {
  return (hit, row) => {
    fillOwn(hit, row)
    const part = (name: string) => hit.querySelector(`[data-${name}]`)
    const pick = part('pick')
    setAttribute(pick, 'value', row.id)
    setAttribute(pick, 'aria-label', `Compare ${row.name}`)
    setText(part('price'), row.price ?? 'not published')
    setAttribute(part('price'), 'class', row.price === null ? 'soft' : 'money')
    setText(part('price-to'), row.priceTo)
    setText(part('rails'), row.rails)
    setText(part('kind'), row.kindLabel)
    showScore(part('trust'), template, row.trust)
  }
}

/** Fills a row of our own: a face, a name and a sentence. */
export function fillOwn(item: Element, row: SearchRow): void {
  const part = (name: string) => item.querySelector(`[data-${name}]`)
  setText(part('tile'), row.monogram)
  setAttribute(part('tile'), 'class', row.tile)
  setText(part('name'), row.name)
  setAttribute(part('name'), 'href', row.page)
  setText(part('summary'), row.summary)
}

function showScore(
  cell: Element | null,
  template: HTMLTemplateElement,
  trust: number | null,
): void {
  const wanted = trust === null ? '[data-no-score]' : '[data-score]'
  if (cell?.querySelector(wanted) === null) {
    const piece = template.content.querySelector(wanted)
    cell.replaceChildren()
    if (piece !== null) cell.append(document.importNode(piece, true))
  }
  if (cell === null || trust === null) return
  setText(cell.querySelector('[data-score-text]'), String(trust))
  setAttribute(cell.querySelector('[data-score-bar]'), 'width', String(trust))
}
