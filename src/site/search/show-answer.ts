import { copiesOf, element, setAttribute, setText, showItems } from './reuse.ts'
import type { SearchResults } from './search-answer.ts'
import type { SearchView } from './search-view.ts'
import { showFacets } from './show-facets.ts'
import { fillHit, fillOwn } from './show-rows.ts'

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
  document.dispatchEvent(new Event('waypost:rows'))
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
