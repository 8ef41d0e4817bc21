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
