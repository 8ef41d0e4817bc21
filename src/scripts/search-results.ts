import type { SearchAnswer } from '../domain/pages/search/search-answer.ts'
import type { SearchRow } from '../domain/pages/search/search-row.ts'
import type { SearchView } from '../domain/pages/search/search-view.ts'

export interface SearchParts {
  lookup: HTMLElement
}

/** Prints an answer where the server printed its own. Everything is set as text: metadata is foreign. */
export function showAnswer(
  { lookup }: SearchParts,
  { rows, notes }: Extract<SearchAnswer, { kind: 'results' }>,
  view: SearchView,
): void {
  const put = (name: string, nodes: Node[]) =>
    lookup.querySelector(`[data-${name}]`)?.replaceChildren(...nodes)
  const template = lookup.querySelector<HTMLTemplateElement>('[data-hit]')
  if (template !== null)
    put(
      'results',
      rows.map((row) => toHit(template, row)),
    )
  put('status', [document.createTextNode(view.status)])
  put(
    'notes',
    notes.map((note) => element('p', { class: 'small soft', dir: 'auto' }, note)),
  )
  put(
    'chips',
    view.chips.map(({ text, path }) => toChip(text, path)),
  )
  put(
    'sorts',
    view.sorts.map(({ text, path, isActive }) => toLink(text, path, isActive)),
  )
  put('facets', view.facets.map(toFacet))
  put('filter-count', [
    document.createTextNode(view.chips.length > 0 ? `(${view.chips.length})` : ''),
  ])
  put(
    'pager',
    view.next === null
      ? []
      : [element('a', { class: 'button', rel: 'next', href: view.next }, 'Next')],
  )
  lookup.querySelector('[data-own]')?.remove()
  showNothing(lookup, view.nothing)
  document.dispatchEvent(new Event('waypost:rows'))
}

/** Says why there are no rows; nothing where there are some. */
function showNothing(lookup: HTMLElement, text: string): void {
  const notice = lookup.querySelector<HTMLElement>('[data-empty]')
  if (notice === null) return
  notice.textContent = text
  notice.hidden = text === ''
}

function toHit(template: HTMLTemplateElement, row: SearchRow): Node {
  const hit = document.importNode(template.content, true)
  const set = (name: string, text: string) => {
    const part = hit.querySelector(`[data-${name}]`)
    if (part !== null) part.textContent = text
    return part
  }
  set('tile', row.monogram)?.setAttribute('class', row.tile)
  const pick = hit.querySelector('[data-pick]')
  pick?.setAttribute('value', row.id)
  pick?.setAttribute('aria-label', `Compare ${row.name}`)
  set('name', row.name)?.setAttribute('href', row.page)
  set('summary', row.summary)
  set('price', row.price ?? 'not published')?.setAttribute(
    'class',
    row.price === null ? 'soft' : 'money',
  )
  set('price-to', row.priceTo)
  set('rails', row.rails)
  set('kind', row.kindLabel)
  hit.querySelector(row.trust === null ? '[data-score]' : '[data-no-score]')?.remove()
  set('score-text', String(row.trust))
  hit.querySelector('[data-score-bar]')?.setAttribute('width', String(row.trust))
  return hit
}

function toFacet({ label, options }: SearchView['facets'][number]): Node {
  const list = element('ul', {})
  for (const { text, count, path, isActive } of options) {
    const link = toLink('', path, isActive)
    link.setAttribute('rel', 'nofollow')
    link.append(element('bdi', {}, text))
    if (count !== null) link.append(element('span', {}, String(count)))
    const item = element('li', {})
    item.append(link)
    list.append(item)
  }
  const group = element('div', {})
  group.append(element('h2', {}, label), list)
  return group
}

function toChip(text: string, path: string): Node {
  const chip = element('a', { class: 'chip', href: path })
  chip.append(
    element('bdi', {}, text),
    ' ',
    element('span', { 'aria-hidden': 'true' }, '×'),
    element('span', { class: 'visually-hidden' }, ', remove'),
  )
  return chip
}

function toLink(text: string, path: string, isActive: boolean): HTMLElement {
  return element('a', { href: path, ...(isActive && { 'aria-current': 'true' }) }, text)
}

function element(name: string, attributes: Record<string, string>, text = ''): HTMLElement {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.textContent = text
  return made
}
