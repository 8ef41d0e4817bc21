import type { CodedColumn } from './coded-column.ts'
import type { IdTable } from './id-table.ts'
import type { TermIndex } from './term-index.ts'

/** A stretch of listing bodies that can be read by position: memory, or a file. */
export interface BodyStore {
  /** What it answers may be overwritten by the next read. */
  read(at: number, length: number): Uint8Array
}

/**
 * Rows that are ranked together: the organic ones, or our own. Rows are numbered in the order of
 * ties (trust, buyers, id), so that of two equal scores the lower row number wins.
 */
export interface IndexPart extends TermIndex {
  rows: number
  ids: IdTable
  /** Saturation of a term that stands once in a row's name. */
  nameSaturations: CodedColumn
  highestNameSaturation: number
  /** Rows in the order of a search without words. */
  browseOrder: Uint32Array
  /** Trust and Live-Tested of each row, see `toStanding`. */
  standings: Uint8Array
  highestMultiplier: number
  /** Lowest price of each row, NaN for none. */
  minUsd: CodedColumn
  /** A bit for each row and filter value; the words of a value lie together. */
  filterBits: Uint32Array
  bodyStarts: Uint32Array
  /** `checksum` of each body, looked at when it is read. */
  bodyChecksums: Uint32Array
}

/** 32-bit words a bit set over all rows takes. */
export function bitWords(rows: number): number {
  return (rows + 31) >>> 5
}
