import { verifyBytes } from './index-file.ts'
import type { IndexPart } from './index-part.ts'
import type { SearchIndex } from './loaded-index.ts'
import { findTerm } from './term-dictionary.ts'

const decoder = new TextDecoder()

/** The listing id of a row. */
export function readId({ idBytes, idStarts }: IndexPart, row: number): string {
  return decoder.decode(idBytes.subarray(idStarts[row], idStarts[row + 1]))
}

/**
 * The prepared bytes of a row's listing summary; see `SearchDocument` for what they lack.
 * @throws SearchIndexError when they were damaged on the way
 */
export function readBody(
  index: SearchIndex,
  part: 'organic' | 'firstParty',
  row: number,
): Uint8Array {
  const { bodyStarts, bodyChecksums } = index[part]
  const base = part === 'organic' ? 0 : (index.organic.bodyStarts.at(-1) ?? 0)
  const start = bodyStarts[row] ?? 0
  const body = index.bodies.read(base + start, (bodyStarts[row + 1] ?? 0) - start)
  if (index.verifyReads) verifyBytes(`body of ${part} row ${row}`, body, bodyChecksums[row] ?? 0)
  return body
}

/** The row of an id, or -1. Every id is a term of its own row, so its postings lead there. */
export function findRow(part: IndexPart, id: string): number {
  const term = findTerm(part.dictionary, id)
  if (term < 0) return -1
  const end = part.postingStarts[term + 1] ?? 0
  for (let at = part.postingStarts[term] ?? 0; at < end; at += 1) {
    const row = part.postingRows[at] ?? 0
    if (readId(part, row) === id) return row
  }
  return -1
}
