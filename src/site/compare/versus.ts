import { smallestOf } from '../../domain/wire/extremes.ts'
import { type CellSubject, type TaskNames, VERSUS_GROUPS, type VersusCell } from './versus-rows.ts'

export type Versus = ReturnType<typeof toVersus>

/**
 * Listings side by side, in the order given: a column each, what they are decided by as rows. A row that no column has anything for is left out, and so is a group without
 * rows; what one column lacks is said in words.
 */
export function toVersus(subjects: readonly CellSubject[], tasks: TaskNames) {
  return {
    columns: subjects.map(({ view }) => view),
    groups: VERSUS_GROUPS.map(({ title, toRows }) => ({
      title,
      rows: toRows(subjects, tasks)
        .filter(({ cells }) => cells.some(({ isMissing }) => !isMissing))
        .map(({ label, cells }) => toRow(label, cells)),
    })).filter(({ rows }) => rows.length > 0),
  }
}

function toRow(label: string, cells: readonly VersusCell[]) {
  const usd = cells.flatMap((cell) => (cell.usd === undefined ? [] : [cell.usd]))
  const lowest = smallestOf(usd)
  const hasLowest = usd.length > 1 && usd.some((price) => price !== lowest)
  return {
    label,
    /** The columns don't all say the same. */
    differs: new Set(cells.map(({ text }) => text)).size > 1,
    cells: cells.map((cell) => ({ ...cell, isLowest: hasLowest && cell.usd === lowest })),
  }
}
