import { SearchIndexError, verifyBytes } from './index-file.ts'
import type { PartName, SearchIndex } from './loaded-index.ts'

const decoder = new TextDecoder()
/** How every body starts; the id follows, up to the next quotation mark. */
export const BODY_START = '{"id":"'
const QUOTATION_MARK = 0x22

/** The listing id of a row. It is not stored twice: the body starts with it. */
export function readId(index: SearchIndex, part: PartName, row: number): string {
  return idIn(readBody(index, part, row))
}

/** The id a body starts with. */
export function idIn(body: Uint8Array): string {
  return decoder.decode(idBytesIn(body))
}

/** The same as bytes: ids are ASCII and need no escaping in JSON. */
export function idBytesIn(body: Uint8Array): Uint8Array {
  const end = body.indexOf(QUOTATION_MARK, BODY_START.length)
  if (end < 0) throw new SearchIndexError('A listing body of the search index lacks its id.')
  return body.subarray(BODY_START.length, end)
}

/**
 * The prepared bytes of a row's listing summary; see `SearchDocument` for what they lack.
 * @throws SearchIndexError when they were damaged on the way
 */
export function readBody(index: SearchIndex, part: PartName, row: number): Uint8Array {
  const { bodyStarts, bodyChecksums } = index[part]
  const base = part === 'organic' ? 0 : (index.organic.bodyStarts.at(-1) ?? 0)
  const start = bodyStarts[row] ?? 0
  const body = index.bodies.read(base + start, (bodyStarts[row + 1] ?? 0) - start)
  if (index.verifyReads) verifyBytes(`body of ${part} row ${row}`, body, bodyChecksums[row] ?? 0)
  return body
}
