import { findExact } from './exact-table.ts'
import { SearchIndexError, verifyBytes } from './index-file.ts'
import type { PartName, SearchIndex } from './index-shape.ts'
import { BODY_START } from './search-document.ts'

const decoder = new TextDecoder()
const QUOTATION_MARK = 0x22

/** The listing id of a row. It is not stored twice: the body starts with it. */
export function readId(index: SearchIndex, part: PartName, row: number): string {
  return idIn(readBody(index, part, row))
}

/** The row of an id, or -1. */
export function findId(index: SearchIndex, part: PartName, id: string): number {
  const rows = findExact(index[part].exact, 'id', id)
  return rows.find((row) => readId(index, part, row) === id) ?? -1
}

/** The id a body starts with. */
export function idIn(body: Uint8Array): string {
  return decoder.decode(body.subarray(BODY_START.length, BODY_START.length + idLengthIn(body)))
}

/** Bytes of that id: ids are ASCII and need no escaping in JSON. */
export function idLengthIn(body: Uint8Array): number {
  // A loop: for so few bytes it is quicker than a call of indexOf.
  for (let at = BODY_START.length; at < body.length; at += 1)
    if (body[at] === QUOTATION_MARK) return at - BODY_START.length
  throw new SearchIndexError('A listing body of the search index lacks its id.')
}

/**
 * The prepared bytes of a row's listing summary; see `SearchDocument` for what they lack. They are
 * there until the next body is read.
 * @throws SearchIndexError when they were damaged on the way
 */
export function readBody(index: SearchIndex, part: PartName, row: number): Uint8Array {
  const { bodyStarts, bodyChecksums } = index[part]
  const base = part === 'organic' ? 0 : (index.organic.bodyStarts.at(-1) ?? 0)
  const start = base + (bodyStarts[row] ?? 0)
  const body = index.bodies.read(start, sizeOfBody(index, part, row))
  if (index.verifyReads) verifyBytes(`body of ${part} row ${row}`, body, bodyChecksums[row] ?? 0)
  return body
}

/** Bytes of a row's body. */
export function sizeOfBody(index: SearchIndex, part: PartName, row: number): number {
  const { bodyStarts } = index[part]
  return (bodyStarts[row + 1] ?? 0) - (bodyStarts[row] ?? 0)
}
