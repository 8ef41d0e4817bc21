import { bodyLength, idOf, unpackBody } from './body-records.ts'
import { findExact } from './exact-table.ts'
import { verifyBytes } from './index-file.ts'
import type { PartName, SearchIndex } from './index-shape.ts'

const decoder = new TextDecoder()
/** Unpacked bodies that are kept, in bytes, in two halves: those of some twenty-five thousand listings. */
const KEPT_BYTES = 40 * 1024 * 1024

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
  const place = placeOf(index, part, row)
  const known = unpacked.bodies.get(place)
  if (known !== undefined) return known
  const former = unpacked.former.get(place)
  const record = former ?? readRecord(index, part, row)
  const length = former?.length ?? bodyLength(record)
  if (unpacked.used + length > unpacked.memory.length) {
    // The bodies of a response in the making lie in one of the two: the one before is written over.
    const { memory, spare } = unpacked
    unpacked.memory =
      spare.length >= length ? spare : new Uint8Array(Math.max(KEPT_BYTES / 2, length))
    unpacked.spare = memory
    unpacked.used = 0
    unpacked.former = unpacked.bodies
    unpacked.bodies = new Map()
  }
  const body = unpacked.memory.subarray(unpacked.used, unpacked.used + length)
  if (former === undefined) unpackBody(record, body)
  else body.set(former)
  unpacked.used += length
  unpacked.bodies.set(place, body)
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
