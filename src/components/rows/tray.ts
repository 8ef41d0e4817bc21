import { LEAST_COMPARED, MOST_COMPARED, toComparisonPath } from '../../domain/wire/links.ts'
import { keep, readKept } from '../frame/kept.ts'

/**
 * Chosen listings stay chosen from list to list while this tab is open: results change as somebody
 * types, and the next service may be on another page.
 */
const KEY = 'compare'
/** Names by id, in the order in which they were chosen. */
let chosen = readChosen()

const tray = document.querySelector<HTMLFormElement>('[data-tray]')
const add = document.querySelector<HTMLElement>('[data-add-compared]')
// A click on "add" chooses the shown comparison's listings; opening a comparison does not.
add?.addEventListener('click', () => keep(KEY, add.dataset.addCompared ?? '[]', 'session'))
if (tray) start(tray)

function start(tray: HTMLFormElement): void {
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.name !== 'ids') return
    chosen.delete(target.value)
    if (target.checked) chosen.set(target.value, nameOf(target))
    show(tray)
  })
  tray.addEventListener('submit', (event) => {
    event.preventDefault()
    location.assign(toComparisonPath([...chosen.keys()]))
  })
  tray.querySelector('[data-tray-clear]')?.addEventListener('click', () => {
    chosen.clear()
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
  // A browser without storage can still compare listings on this page.
  keep(KEY, JSON.stringify([...chosen]), 'session')
  const isFull = chosen.size >= MOST_COMPARED
  for (const box of document.querySelectorAll<HTMLInputElement>('input[name="ids"]')) {
    box.checked = chosen.has(box.value)
    box.disabled = isFull && !box.checked
  }
  const go = tray.querySelector<HTMLButtonElement>('[data-tray-go]')
  const words = tray.querySelector('[data-tray-names]')
  if (go === null || words === null) return
  if (chosen.size === 0) delete go.dataset.chosen
  else go.dataset.chosen = String(chosen.size)
  go.disabled = chosen.size < LEAST_COMPARED
  const names = [...chosen.values()].join(', ')
  const full = isFull ? `${MOST_COMPARED} at most: ${names}` : names
  words.textContent = go.disabled ? `${names}: choose another` : full
}

/** The name in the box's label: "Compare DeepL". */
function nameOf(box: HTMLInputElement): string {
  const label = box.ariaLabel ?? box.closest('label')?.textContent ?? box.value
  return label.replace(/^\s*Compare\s+/, '').trim()
}

function readChosen(): Map<string, string> {
  try {
    // Another version of this page may have kept something else.
    const kept: unknown = JSON.parse(readKept(KEY, 'session') ?? '[]')
    if (!Array.isArray(kept)) return new Map()
    const pairs = kept.filter((pair) => Array.isArray(pair) && pair.length === 2)
    return new Map(pairs.slice(0, MOST_COMPARED).map(([id, name]) => [String(id), String(name)]))
  } catch {
    return new Map()
  }
}
