import { buildHashTable, type HashTable } from './hash-table.ts'
import { hashText } from './hash-text.ts'

/**
 * Rows by the hash of their id. Ids would be a third of the term dictionary, each for one row;
 * here each takes four and a half bytes, and a hit is proved by the id in the row's body.
 */
export type IdTable = HashTable

/** An id is looked up once or twice a search at most: space is dearer than looks. */
const SLOTS_PER_ID = 1.125

/** @param ids in the order of their rows */
export function buildIdTable(ids: readonly string[]): IdTable {
  return buildHashTable([...ids.keys()], (row) => hashText(ids[row] ?? ''), {
    limit: ids.length,
    slotsPerNumber: SLOTS_PER_ID,
  })
}
