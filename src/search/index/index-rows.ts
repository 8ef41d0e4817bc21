import { idOf, unpackBody } from './body-records.ts'
import { findExact } from './exact-table.ts'
import { verifyBytes } from './index-file.ts'
import type { PartName, SearchIndex } from './index-shape.ts'

const decoder = new TextDecoder()
/** Unpacked bodies that are kept, in bytes: those of some sixteen thousand listings. */
const KEPT_BYTES = 24 * 1024 * 1024

/** The listing id of a row. */
export function readId(index: SearchIndex, part: PartName, row: number): string {
  return decoder.decode(idOf(readRecord(index, part, row)))
}

/** The row of an id, or -1. */
export function findId(index: SearchIndex, part: PartName, id: string): number {
  const rows = findExact(index[part].exact, 'id', id)
  return rows.find((row) => readId(index, part, row) === id) ?? -1
}

/**
 * The prepared bytes of a row's listing summary; see `SearchDocument` for what they lack.
 * @throws SearchIndexError when they were damaged on the way
 */
export function readBody(index: SearchIndex, part: PartName, row: number): Uint8Array {
  const { unpacked } = index
  const { byPlace } = unpacked
  const place = placeOf(index, part, row)
  const known = byPlace.get(place)
  const body = known ?? unpackBody(readRecord(index, part, row))
  if (known === undefined) unpacked.bytes += body.length
  else byPlace.delete(place)
  byPlace.set(place, body)
  for (const [oldest, { length }] of byPlace) {
    if (unpacked.bytes <= KEPT_BYTES) break
    byPlace.delete(oldest)
    unpacked.bytes -= length
  }
  return body
}

/**
 * A row's body as it lies in the file, see `body-records.ts`. It is there until the next is read.
 * @throws SearchIndexError when it was damaged on the way
 */
export function readRecord(index: SearchIndex, part: PartName, row: number): Uint8Array {
  const place = placeOf(index, part, row)
  const start = index.bodyStarts[place] ?? 0
  const record = index.bodies.read(start, (index.bodyStarts[place + 1] ?? 0) - start)
  if (index.verifyReads)
    verifyBytes(`body of ${part} row ${row}`, record, index.bodyChecksums[place] ?? 0)
  return record
}

/** Bodies of our own rows lie behind the others. */
function placeOf({ organic }: SearchIndex, part: PartName, row: number): number {
  return part === 'organic' ? row : organic.rows + row
}
