import { idIn, readBody } from './index-rows.ts'
import type { PartName, SearchIndex } from './loaded-index.ts'
import { hashText } from './term-dictionary.ts'

/** The row of an id, or -1. */
export function findId(index: SearchIndex, part: PartName, id: string): number {
  const { hashes, rows } = index[part].ids
  const hash = hashText(id)
  for (let at = lowerBound(hashes, hash); hashes[at] === hash; at += 1) {
    const row = rows[at] ?? 0
    if (idIn(readBody(index, part, row)) === id) return row
  }
  return -1
}

function lowerBound(numbers: Uint32Array, wanted: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) < wanted) low = middle + 1
    else high = middle
  }
  return low
}
