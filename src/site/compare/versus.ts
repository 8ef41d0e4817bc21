import type { ListingView } from '../../domain/views/listing-view.ts'
import { smallestOf } from '../../domain/wire/extremes.ts'
import { type CellSubject, VERSUS_GROUPS, type VersusCell } from './versus-rows.ts'

/** Listings side by side: a column each, what they are decided by as rows. */
export interface Versus {
  columns: ListingView[]
  groups: { title: string; rows: VersusRow[] }[]
}

export interface VersusRow {
  label: string
  /** The columns don't all say the same. */
  differs: boolean
  cells: (VersusCell & { isLowest: boolean })[]
}

/** Names of tasks by id. */
export type TaskNames = readonly { id: string; name: string }[]

/**
 * In the order given. A row that no column has anything for is left out, and so is a group without
 * rows; what one column lacks is said in words.
 */
export function toVersus(subjects: readonly CellSubject[], tasks: TaskNames): Versus {
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

function toRow(label: string, cells: readonly VersusCell[]): VersusRow {
  const usd = cells.flatMap((cell) => (cell.usd === undefined ? [] : [cell.usd]))
  const lowest = smallestOf(usd)
  const hasLowest = usd.length > 1 && usd.some((price) => price !== lowest)
  return {
    label,
    differs: new Set(cells.map(({ text }) => text)).size > 1,
    cells: cells.map((cell) => ({ ...cell, isLowest: hasLowest && cell.usd === lowest })),
  }
}
