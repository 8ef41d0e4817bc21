import { addArrowKeys, fetchSearch, showParts, toTypedPath, whileTyping } from './typed-search.ts'

/** The home page's box: shows the first results under it while somebody types; Enter shows all. */
const ROWS = 6

const suggest = document.querySelector<HTMLElement>('[data-suggest]')
const box = suggest?.closest('form')?.querySelector<HTMLInputElement>('[data-search]')
if (suggest && box) start(box, suggest)

function start(box: HTMLInputElement, suggest: HTMLElement): void {
  const isEmpty = () => box.value.trim() === ''
  whileTyping(box, async (signal) => {
    const path = toTypedPath(box)
    const found = isEmpty() ? null : await fetchSearch(path, signal)
    // A copy of the site without functions answers with a page that searches by itself.
    suggest.hidden = found === null || found.querySelector('[data-index]') !== null
    if (found === null || suggest.hidden) return
    showParts(suggest, found, ROWS)
    suggest.querySelector('[data-all]')?.setAttribute('href', path)
  })
  // Covers text that was typed before this script loaded.
  if (box.value !== '') box.dispatchEvent(new Event('input'))
  addArrowKeys(suggest, box)
  const leave = (event: Event) => {
    const target = event instanceof FocusEvent ? event.relatedTarget : event.target
    if (target instanceof Node && box.form?.contains(target)) return
    suggest.hidden = true
  }
  box.form?.addEventListener('focusout', (event) => event.relatedTarget !== null && leave(event))
  document.addEventListener('pointerdown', leave)
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || suggest.hidden) return
    // Otherwise the browser would empty the box too.
    event.preventDefault()
    suggest.hidden = true
    box.focus()
  })
  // Shows an earlier query's results again.
  box.addEventListener('focus', () => {
    const hasRows = suggest.querySelector('[data-results] .item') !== null
    if (hasRows && !isEmpty()) suggest.hidden = false
  })
}
