import { readId } from '../../src/search/index/index-rows.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'

/**
 * Counts how often searches showed each organic row. Adding one to a number costs a search next to
 * nothing; the listing's id is read, and the count looked up by it, once for many searches.
 *
 * @param report told what was counted since the last time: each listing once
 */
export function createShownRows(report: (listingId: string, times: number) => void) {
  let of: SearchIndex | undefined
  let times = new Uint32Array(0)
  let touched: number[] = []
  const reportAll = () => {
    if (of === undefined) return
    const [index, rows] = [of, touched]
    touched = []
    for (const row of rows) {
      report(readId(index, 'organic', row), times[row] ?? 0)
      times[row] = 0
    }
  }
  return {
    add(index: SearchIndex, rows: readonly RankedRow[]): void {
      if (index !== of) {
        reportAll()
        of = index
        times = new Uint32Array(index.organic.rows)
      }
      for (const { row } of rows) {
        const before = times[row] ?? 0
        if (before === 0) touched.push(row)
        times[row] = before + 1
      }
    },
    report: reportAll,
  }
}
