/** Sorts the rows of this page by a column; without JavaScript the headings are plain text. */
for (const table of document.querySelectorAll<HTMLTableElement>('[data-sortable]'))
  for (const heading of table.querySelectorAll<HTMLTableCellElement>('th[data-sort]'))
    addSortButton(table, heading)

function addSortButton(table: HTMLTableElement, heading: HTMLTableCellElement): void {
  const button = document.createElement('button')
  button.type = 'button'
  // White space between tags would be a word's width more than the heading had.
  button.textContent = heading.textContent?.trim() ?? ''
  heading.replaceChildren(button)
  button.addEventListener('click', () => sortBy(table, heading))
}

function sortBy(table: HTMLTableElement, heading: HTMLTableCellElement): void {
  const isNumber = heading.dataset.sort === 'number'
  const direction = nextDirection(heading)
  for (const other of table.querySelectorAll('th')) other.removeAttribute('aria-sort')
  heading.ariaSort = direction
  const sign = direction === 'ascending' ? 1 : -1
  const body = table.tBodies[0]
  if (body === undefined) return
  const rows = [...body.rows].sort((a, b) => {
    const left = a.cells[heading.cellIndex]?.dataset.value
    const right = b.cells[heading.cellIndex]?.dataset.value
    // Unknown is neither large nor small: it stays at the end both ways.
    if (left === undefined || right === undefined)
      return Number(left === undefined) - Number(right === undefined)
    return sign * (isNumber ? Number(left) - Number(right) : left.localeCompare(right))
  })
  for (const row of rows) body.append(row)
}

/** Names from A, prices from the lowest, other numbers from the highest; a second click turns it round. */
function nextDirection(heading: HTMLTableCellElement): 'ascending' | 'descending' {
  if (heading.ariaSort === 'ascending') return 'descending'
  if (heading.ariaSort === 'descending') return 'ascending'
  return heading.dataset.sort === 'number' && heading.dataset.first !== 'lowest'
    ? 'descending'
    : 'ascending'
}
