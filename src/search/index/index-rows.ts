import { findExact } from './exact-table.ts'
import { verifyBytes } from './index-file.ts'
import type { PartName, SearchIndex } from './index-shape.ts'
import { BODY_START } from './search-document.ts'

const decoder = new TextDecoder()
const QUOTATION_MARK = 0x22

/** The listing id of a row. */
export function readId(index: SearchIndex, part: PartName, row: number): string {
  return decoder.decode(idOf(readBody(index, part, row)))
}

/** The ASCII of the id that a body starts with. */
export function idOf(body: Uint8Array): Uint8Array {
  return body.subarray(BODY_START.length, body.indexOf(QUOTATION_MARK, BODY_START.length))
}

/** The row of an id, or -1. */
export function findId(index: SearchIndex, part: PartName, id: string): number {
  const rows = findExact(index[part].exact, 'id', id)
  return rows.find((row) => readId(index, part, row) === id) ?? -1
}

/**
 * The prepared bytes of a row's listing summary; see `SearchDocument` for what they lack. They are
 * valid until the next read.
 * @throws SearchIndexError when they were damaged on the way
 */
export function readBody(index: SearchIndex, part: PartName, row: number): Uint8Array {
  // Bodies of our own rows come after the others.
  const place = part === 'organic' ? row : index.organic.rows + row
  const start = index.bodyStarts[place] ?? 0
  const body = index.bodies.read(start, (index.bodyStarts[place + 1] ?? 0) - start)
  if (index.verifyReads)
    verifyBytes(`body of ${part} row ${row}`, body, index.bodyChecksums[place] ?? 0)
  return body
}
