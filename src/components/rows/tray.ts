import { MOST_COMPARED, toComparisonPath } from '../../domain/wire/links.ts'
import { keep, readKept } from '../frame/kept.ts'

/**
 * Chosen listings stay chosen from list to list while this tab is open: results change as somebody
 * types, and the next service may be on another page.
 */
const KEY = 'compare'
/** Ids in the order in which they were chosen; the page that compares them reads the names again. */
let chosen = readChosen()

const tray = document.querySelector<HTMLFormElement>('[data-tray]')
const add = document.querySelector<HTMLElement>('[data-add-compared]')
// A click on "add" chooses the shown comparison's listings; opening a comparison does not.
add?.addEventListener('click', () => choose(add.dataset.addCompared?.split(',') ?? []))
if (tray) start(tray)

function start(tray: HTMLFormElement): void {
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.name !== 'ids') return
    choose(target.checked ? [...chosen, target.value] : chosen.filter((id) => id !== target.value))
    show(tray)
  })
  tray.addEventListener('submit', (event) => {
    event.preventDefault()
    location.assign(toComparisonPath(chosen))
  })
  tray.querySelector('[data-tray-clear]')?.addEventListener('click', () => {
    choose([])
    show(tray)
  })
  // Rows that a search adds while somebody types.
  document.addEventListener('directory:rows', () => show(tray))
  // A page restored from the back/forward cache.
  addEventListener('pageshow', () => {
    chosen = readChosen()
    show(tray)
  })
  show(tray)
}

function show(tray: HTMLFormElement): void {
  const isFull = chosen.length >= MOST_COMPARED
  for (const box of document.querySelectorAll<HTMLInputElement>('input[name="ids"]')) {
    box.checked = chosen.includes(box.value)
    box.disabled = isFull && !box.checked
  }
  const go = tray.querySelector('[data-tray-go]')
  if (chosen.length === 0) go?.removeAttribute('data-chosen')
  else go?.setAttribute('data-chosen', String(chosen.length))
  const words = tray.querySelector('[data-tray-names]')
  if (words !== null) words.textContent = toWords(chosen.length)
}

function toWords(count: number): string {
  if (count === 1) return 'Choose another'
  return count >= MOST_COMPARED ? `${MOST_COMPARED} at most` : 'Chosen'
}

function choose(ids: readonly string[]): void {
  chosen = [...new Set(ids)].filter((id) => id !== '').slice(0, MOST_COMPARED)
  // A browser without storage can still compare listings on this page.
  keep(KEY, JSON.stringify(chosen), 'session')
}

function readChosen(): string[] {
  try {
    const kept: unknown = JSON.parse(readKept(KEY, 'session') ?? '[]')
    if (!Array.isArray(kept)) return []
    return kept.filter((id) => typeof id === 'string').slice(0, MOST_COMPARED)
  } catch {
    return []
  }
}
