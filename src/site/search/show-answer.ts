import type { SearchResults } from './search-answer.ts'
import type { SearchRow } from './search-row.ts'
import type { SearchFacetView, SearchOption, SearchView } from './search-view.ts'

/** Prints an answer where the server printed its own. Everything is set as text: metadata is foreign. */
export function showAnswer(
  lookup: HTMLElement,
  { rows, own, notes }: SearchResults,
  view: SearchView,
): void {
  const part = (name: string) => lookup.querySelector(`[data-${name}]`)
  const template = (name: string) => lookup.querySelector<HTMLTemplateElement>(`template${name}`)
  const hit = template('[data-hit]')
  if (hit !== null) showItems(part('results'), rows, { make: copiesOf(hit), fill: fillHit(hit) })
  setText(part('status'), view.status)
  showNotes(part('notes'), notes)
  const { next } = view
  showItems(part('pager'), next === null ? [] : [next], {
    make: () => element('a', { class: 'button', rel: 'next' }, 'Next'),
    fill: fillNext,
  })
  const ownHit = template('[data-own-hit]')
  if (ownHit !== null) showItems(part('own-rows'), own, { make: copiesOf(ownHit), fill: fillOwn })
  part('own')?.toggleAttribute('hidden', own.length === 0)
  setText(part('empty'), view.nothing)
  part('empty')?.toggleAttribute('hidden', view.nothing === '')
  showChoices(part, view)
  document.dispatchEvent(new Event('directory:rows'))
}

/** Why a search has no answer, where its notes stand; what was shown before stays. */
export function showReason(lookup: HTMLElement, reason: string): void {
  const notice = element('p', { class: 'notice', dir: 'auto' }, reason)
  lookup.querySelector('[data-notes]')?.replaceChildren(notice)
}

/** A submitted page that was refused has a box here, which is no note. */
function showNotes(list: Element | null, notes: readonly string[]): void {
  for (const notice of list?.querySelectorAll('.notice') ?? []) notice.remove()
  showItems(list, notes, {
    make: () => element('p', { class: 'small soft', dir: 'auto' }),
    fill: setText,
  })
}

/** The page before is the server's. Typing starts at the first one. */
function fillNext(link: Element, path: string): void {
  setText(link, 'Next')
  setAttribute(link, 'rel', 'next')
  setAttribute(link, 'href', path)
}

function showChoices(
  part: (name: string) => Element | null,
  { chips, sorts, facets }: SearchView,
): void {
  showItems(part('chips'), chips, { make: makeChip, fill: fillChip })
  showItems(part('sorts'), sorts, {
    make: () => element('a', {}),
    fill: (link, { text, path, isActive }) => {
      setText(link, text)
      setAttribute(link, 'href', path)
      setAttribute(link, 'aria-current', isActive ? 'true' : null)
    },
  })
  showFacets(part('facets'), facets)
  setText(part('filter-count'), chips.length > 0 ? `(${chips.length})` : '')
}

function makeChip(): Element {
  const chip = element('a', { class: 'chip' })
  chip.append(
    element('bdi', {}),
    ' ',
    element('span', { 'aria-hidden': 'true' }, '×'),
    element('span', { class: 'visually-hidden' }, ', remove'),
  )
  return chip
}

function fillChip(chip: Element, { text, path }: SearchView['chips'][number]): void {
  setText(chip.querySelector('bdi'), text)
  setAttribute(chip, 'href', path)
}

/** The lists beside the results. A list keeps its place on the page, and whether it is open. */
function showFacets(place: Element | null, facets: readonly SearchFacetView[]): void {
  if (place === null) return
  const groups = [...place.children]
  const known = new Map(groups.map((group) => [group.querySelector('h2')?.textContent, group]))
  const wanted = facets.map((facet) => known.get(facet.label) ?? makeGroup(facet.label))
  const isSame = wanted.length === groups.length && wanted.every((one, at) => one === groups[at])
  if (!isSame) {
    place.replaceChildren()
    for (const group of wanted) place.append(group)
  }
  facets.forEach((facet, at) => {
    fillGroup(wanted[at], facet)
  })
}

function makeGroup(label: string): Element {
  const group = element('div', {})
  group.append(element('h2', {}, label), element('ul', {}))
  return group
}

function fillGroup(group: Element | undefined, { label, options, more }: SearchFacetView): void {
  if (group === undefined) return
  showOptions(group.querySelector('ul'), options)
  const rest = group.querySelector('details')
  if (more.length === 0) {
    rest?.remove()
    return
  }
  const details = rest ?? group.appendChild(makeRest(label))
  setText(details.querySelector('summary'), `${more.length} more`)
  showOptions(details.querySelector('ul'), more)
}

function makeRest(label: string): Element {
  const rest = element('details', { 'data-facet': label })
  rest.append(element('summary', {}), element('ul', {}))
  return rest
}

function showOptions(list: Element | null, options: readonly SearchOption[]): void {
  showItems(list, options, { make: makeOption, fill: fillOption })
}

function makeOption(): Element {
  const link = element('a', { rel: 'nofollow' })
  link.append(element('bdi', {}), element('span', {}))
  const item = element('li', {})
  item.append(link)
  return item
}

function fillOption(item: Element, { text, count, path, isActive }: SearchOption): void {
  const link = item.querySelector('a')
  setAttribute(link, 'href', path)
  setAttribute(link, 'aria-current', isActive ? 'true' : null)
  setText(item.querySelector('bdi'), text)
  setText(item.querySelector('span'), String(count))
}

/** Fills a row of results; its score, or the word for none, is taken from the template. */
function fillHit(template: HTMLTemplateElement): (hit: Element, row: SearchRow) => void {
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
function fillOwn(item: Element, row: SearchRow): void {
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

/**
 * Makes the children of a list show these items. Those that are there are filled anew and only what
 * changed is touched, so that a browser lays out and paints no more than that at each key.
 */
function showItems<Item>(
  list: Element | null,
  items: readonly Item[],
  { make, fill }: { make: () => Element; fill: (child: Element, item: Item) => void },
): void {
  if (list === null) return
  const children = [...list.children]
  items.forEach((item, place) => {
    fill(children[place] ?? list.appendChild(make()), item)
  })
  for (const child of children.slice(items.length)) child.remove()
}

function setText(element: Element | null, text: string): void {
  if (element !== null && element.textContent !== text) element.textContent = text
}

/** @param value null takes the attribute away */
function setAttribute(element: Element | null, name: string, value: string | null): void {
  if (element === null || element.getAttribute(name) === value) return
  if (value === null) element.removeAttribute(name)
  else element.setAttribute(name, value)
}

/** Copies of what a `<template>` holds. @throws where it holds no element */
function copiesOf(template: HTMLTemplateElement): () => Element {
  const first = template.content.firstElementChild
  if (first === null) throw new Error('expected an element in the template')
  return () => document.importNode(first, true)
}

function element(name: string, attributes: Record<string, string>, text = ''): HTMLElement {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.textContent = text
  return made
}
