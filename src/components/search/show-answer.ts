import { html, type Markup } from '../frame/html.ts'
import type { SearchResults } from './search-answer.ts'
import { toSearchParts } from './search-html.ts'
import type { SearchView } from './search-view.ts'

/** Prints an answer in place of the server's; an opened list stays open. */
export function showAnswer(lookup: HTMLElement, answer: SearchResults, view: SearchView): void {
  const open = [...lookup.querySelectorAll('details[open]')].map(facetOf)
  for (const [name, markup] of Object.entries(toSearchParts(answer, view)))
    show(lookup, name, markup)
  for (const list of lookup.querySelectorAll('details')) list.open = open.includes(facetOf(list))
  document.dispatchEvent(new Event('directory:rows'))
}

/** Shows why a search has no answer, in place of its notes; the previous results stay. */
export function showReason(lookup: HTMLElement, reason: string): void {
  show(lookup, 'notes', html`<p class="notice" dir="auto">${reason}</p>`)
}

const facetOf = (list: Element) => list.getAttribute('data-facet')

const shown = new WeakMap<Element, string>()

/** Only what changed is touched, so that a browser lays out and paints no more than that at each key. */
function show(lookup: HTMLElement, name: string, { text }: Markup): void {
  const place = lookup.querySelector(`[data-${name}]`)
  if (place === null || shown.get(place) === text) return
  place.innerHTML = text
  shown.set(place, text)
}

/** Arrow keys between the search box and the results. */
export function addArrowKeys(results: HTMLElement, box: HTMLInputElement): void {
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    // A select uses the arrows itself.
    if (event.target instanceof HTMLSelectElement) return
    const all = results.querySelectorAll<HTMLAnchorElement>('[data-results] .hit-name')
    // Folded rows are passed over.
    const links = [...all].filter((link) => link.checkVisibility())
    const current = document.activeElement
    const place = current instanceof HTMLAnchorElement ? links.indexOf(current) : -1
    const next = event.key === 'ArrowDown' ? place + 1 : place - 1
    if (place === -1 && current !== box) return
    const target = next < 0 ? box : links[next]
    if (target === undefined || (place === -1 && event.key === 'ArrowUp')) return
    event.preventDefault()
    target.focus()
  })
}

/** A pause after the last key, so that words are searched and not single letters (milliseconds). */
const TYPING_PAUSE = 90

/**
 * Searches after each pause in typing. The last query wins: an older one is aborted, and its late
 * answer is ignored. Text still being composed by an input method is not a query.
 */
export function whileTyping(box: HTMLInputElement, ask: (signal: AbortSignal) => Promise<void>) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking: AbortController | undefined
  const start = () => {
    asking?.abort()
    asking = new AbortController()
    const { signal } = asking
    ask(signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
  }
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(start, TYPING_PAUSE)
  }
  box.addEventListener('input', (event) => {
    if (!(event instanceof InputEvent) || !event.isComposing) wait()
  })
  box.addEventListener('compositionend', wait)
}
