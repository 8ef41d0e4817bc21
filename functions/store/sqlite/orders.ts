import type { SQLInputValue } from 'node:sqlite'

/** What the main thread asks of the SQLite thread, and what it answers. */
export type Order =
  | { do: 'query'; id: number; query: Query }
  | { do: 'clicks'; id: number; clicks: ClickCells }
  | { do: 'close'; id: number }

export interface Query {
  sql: string
  parameters: readonly SQLInputValue[]
}

/** Rows laid end to end, `CLICK_WIDTH` cells each: a flat array crosses threads far cheaper than objects. */
export type ClickCells = SQLInputValue[]

/** hour, listing_id, sid, pos, src, bot */
export const CLICK_WIDTH = 6

export type Answer =
  | { id: number; ok: true; rows: unknown[]; changes: number }
  | { id: number; ok: false; message: string; errcode: number }
