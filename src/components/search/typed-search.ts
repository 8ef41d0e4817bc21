/** Parts of the search page (`data-<name>`) that an answer changes, there and under the home page's box. */
const PARTS = [
  ...['heading', 'status', 'filter-count', 'facets', 'filter-end', 'chips', 'sorts'],
  ...['notes', 'results', 'empty', 'pager', 'own'],
]

/** The address for the form around the box, without its empty fields. */
export function toTypedPath({ form }: HTMLInputElement): string {
  const params = new URLSearchParams()
  for (const [name, value] of new FormData(form ?? undefined))
    if (typeof value === 'string' && value.trim() !== '') params.set(name, value.trim())
  return params.size === 0 ? '/search' : `/search?${params}`
}

/**
 * The search page as the server prints it for somebody who types, so that typing and submitting
 * show the same rows.
 * @returns null if no function answers, or a newer search was started
 */
export async function fetchSearch(path: string, signal: AbortSignal): Promise<Document | null> {
  const response = await fetch(path, {
    signal,
    headers: { 'Search-Typing': '1' },
    // The submitted search is counted, so it must reach the server.
    cache: 'no-store',
  }).catch((error: unknown) => {
    if (signal.aborted) throw error
    return null
  })
  if (response === null) return null
  const found = new DOMParser().parseFromString(await response.text(), 'text/html')
  return signal.aborted || found.querySelector('[data-notes]') === null ? null : found
}

/** Replaces the former answer; an opened list stays open. If the search was refused, the rows stay. */
export function showParts(place: HTMLElement, found: Document, most = Number.POSITIVE_INFINITY) {
  const isRefused = found.querySelector('[data-refused]') !== null
  const open = [...place.querySelectorAll('details[open]')].map(facetOf)
  for (const name of isRefused ? ['notes'] : PARTS) {
    const part = place.querySelector(`[data-${name}]`)
    const fresh = found.querySelector(`[data-${name}]`)
    if (part === null || fresh === null) continue
    for (const row of [...fresh.children].slice(most)) row.remove()
    // Only changed parts are laid out and painted again: a page has at most twenty rows to compare.
    if (part.innerHTML !== fresh.innerHTML) part.replaceChildren(...fresh.childNodes)
  }
  for (const list of place.querySelectorAll('details')) list.open = open.includes(facetOf(list))
  document.dispatchEvent(new Event('directory:rows'))
}

const facetOf = (list: Element) => list.getAttribute('data-facet')

/** Lets arrow keys move between the search box and the results. */
export function addArrowKeys(results: HTMLElement, box: HTMLInputElement): void {
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    // A select uses the arrow keys itself.
    if (event.target instanceof HTMLSelectElement) return
    const all = results.querySelectorAll<HTMLAnchorElement>('[data-results] .name-link')
    // Folded rows are skipped.
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

/** Pause after the last key, so that words are searched for instead of single letters (milliseconds). */
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
