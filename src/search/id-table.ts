import { hashText } from './term-dictionary.ts'

/**
 * Rows by the hash of their id. Ids would be a third of the term dictionary, each for one row;
 * here each takes eight bytes, and a hit is proved by the id in the row's body.
 */
export interface IdTable {
  /** Ascending. */
  hashes: Uint32Array
  /** The row of each hash. */
  rows: Uint32Array
}

/** @param ids in the order of their rows */
export function buildIdTable(ids: readonly string[]): IdTable {
  const entries = ids.map((id, row) => ({ hash: hashText(id), row }))
  entries.sort((a, b) => a.hash - b.hash || a.row - b.row)
  return {
    hashes: Uint32Array.from(entries, ({ hash }) => hash),
    rows: Uint32Array.from(entries, ({ row }) => row),
  }
}
