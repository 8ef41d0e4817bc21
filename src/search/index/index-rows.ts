import { findExact } from './exact-table.ts'
import { verifyBytes } from './index-file.ts'
import type { SearchIndex } from './index-shape.ts'
import { BODY_START } from './search-document.ts'

const decoder = new TextDecoder()
const QUOTATION_MARK = 0x22

/** The listing id of a row. */
export function readId(index: SearchIndex, row: number): string {
  return decoder.decode(idOf(readBody(index, row)))
}

/** The ASCII of the id that a body starts with. */
export function idOf(body: Uint8Array): Uint8Array {
  return body.subarray(BODY_START.length, body.indexOf(QUOTATION_MARK, BODY_START.length))
}

/** The row of an id, or -1. */
export function findId({ exact }: SearchIndex, id: string): number {
  return findExact(exact, 'id', id)[0] ?? -1
}

/**
 * The prepared bytes of a row's listing summary; see `SearchDocument` for what they lack. They are
 * valid until the next read.
 * @throws SearchIndexError when they were damaged on the way
 */
export function readBody(index: SearchIndex, row: number): Uint8Array {
  const start = index.bodyStarts[row] ?? 0
  const body = index.bodies.read(start, (index.bodyStarts[row + 1] ?? 0) - start)
  if (index.verifyReads) verifyBytes(`body of row ${row}`, body, index.bodyChecksums[row] ?? 0)
  return body
}
