import type { SearchResults } from '../../domain/pages/search/search-answer.ts'
import type { SearchRow } from '../../domain/pages/search/search-row.ts'
import type { SearchView } from '../../domain/pages/search/search-view.ts'

/** Prints an answer where the server printed its own. Everything is set as text: metadata is foreign. */
export function showAnswer(
  lookup: HTMLElement,
  { rows, notes }: SearchResults,
  view: SearchView,
): void {
  const template = lookup.querySelector<HTMLTemplateElement>('[data-hit]')
  const hits = template === null ? [] : rows.map((row) => toHit(template, row))
  put(lookup, 'results', hits)
  put(lookup, 'status', [document.createTextNode(view.status)])
  const toNote = (note: string) => element('p', { class: 'small soft', dir: 'auto' }, note)
  put(lookup, 'notes', notes.map(toNote))
  const { next } = view
  const link =
    next === null ? [] : [element('a', { class: 'button', rel: 'next', href: next }, 'Next')]
  put(lookup, 'pager', link)
  lookup.querySelector('[data-own]')?.remove()
  showNothing(lookup, view.nothing)
  showChoices(lookup, view)
  document.dispatchEvent(new Event('waypost:rows'))
}

/** Says why there are no rows; nothing where there are some. */
function showNothing(lookup: HTMLElement, text: string): void {
  const notice = lookup.querySelector<HTMLElement>('[data-empty]')
  if (notice === null) return
  notice.textContent = text
  notice.hidden = text === ''
}

function showChoices(lookup: HTMLElement, { chips, sorts, facets }: SearchView): void {
  const chipNodes = chips.map(({ text, path }) => toChip(text, path))
  put(lookup, 'chips', chipNodes)
  const sortNodes = sorts.map(({ text, path, isActive }) => toLink(text, path, isActive))
  put(lookup, 'sorts', sortNodes)
  const opened = [...lookup.querySelectorAll<HTMLElement>('[data-facet][open]')]
  const open = new Set(opened.map(({ dataset }) => dataset.facet))
  const facetNodes = facets.map((facet) => toFacet(facet, open.has(facet.label)))
  put(lookup, 'facets', facetNodes)
  const count = chips.length > 0 ? `(${chips.length})` : ''
  put(lookup, 'filter-count', [document.createTextNode(count)])
}

function put(lookup: HTMLElement, name: string, nodes: Node[]): void {
  lookup.querySelector(`[data-${name}]`)?.replaceChildren(...nodes)
}

/** Why a search has no answer, where its notes stand; what was shown before stays. */
export function showReason(lookup: HTMLElement, reason: string): void {
  const notice = element('p', { class: 'notice', dir: 'auto' }, reason)
  lookup.querySelector('[data-notes]')?.replaceChildren(notice)
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

function toFacet({ label, options, more }: SearchView['facets'][number], wasOpen: boolean): Node {
  const group = element('div', {})
  group.append(element('h2', {}, label), toOptions(options))
  if (more.length === 0) return group
  const rest = element('details', { 'data-facet': label, ...(wasOpen && { open: '' }) })
  rest.append(element('summary', {}, `${more.length} more`), toOptions(more))
  group.append(rest)
  return group
}

function toOptions(options: SearchView['facets'][number]['options']): Node {
  const list = element('ul', {})
  for (const { text, count, path, isActive } of options) {
    const link = toLink('', path, isActive)
    link.setAttribute('rel', 'nofollow')
    link.append(element('bdi', {}, text), element('span', {}, String(count)))
    const item = element('li', {})
    item.append(link)
    list.append(item)
  }
  return list
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
