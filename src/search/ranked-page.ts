export interface RankedRow {
  row: number
  relevance: number
}

/** The page of one part that was asked for, and how many rows of it match in all. */
export interface RankedPage {
  total: number
  rows: readonly RankedRow[]
}
