import { findNumber } from './hash-table.ts'
import { hashText } from './hash-text.ts'
import { idIn, readBody } from './index-rows.ts'
import type { PartName, SearchIndex } from './loaded-index.ts'

/** The row of an id, or -1. */
export function findId(index: SearchIndex, part: PartName, id: string): number {
  return findNumber(index[part].ids, hashText(id), (row) => idIn(readBody(index, part, row)) === id)
}
