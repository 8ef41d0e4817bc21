/** Rows on one static page of a long table. */
export const ROWS_PER_PAGE = 100

/** One static page of a table and its neighbours' paths; null at either end. */
export interface TablePage<Row> {
  rows: readonly Row[]
  number: number
  pages: number
  total: number
  /** Place of the first row, counted from 1; 0 without rows. */
  firstRow: number
  path: string
  previous: string | null
  next: string | null
}

/**
 * Cuts a table into static pages: the first at `path`, the others at `path/2`, `path/3`. An empty
 * table has one page, which says so.
 */
export function toTablePages<Row>(path: string, rows: readonly Row[]): TablePage<Row>[] {
  const pages = Math.max(1, Math.ceil(rows.length / ROWS_PER_PAGE))
  const pathOf = (number: number) => (number === 1 ? path : `${path}/${number}`)
  return Array.from({ length: pages }, (_, index) => {
    const number = index + 1
    const start = index * ROWS_PER_PAGE
    return {
      rows: rows.slice(start, start + ROWS_PER_PAGE),
      number,
      pages,
      total: rows.length,
      firstRow: rows.length === 0 ? 0 : start + 1,
      path: pathOf(number),
      previous: number > 1 ? pathOf(number - 1) : null,
      next: number < pages ? pathOf(number + 1) : null,
    }
  })
}
