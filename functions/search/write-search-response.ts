import type { SearchQuery } from '../../src/domain/search/search-query.ts'
import { idLengthIn, readBody, sizeOfBody } from '../../src/search/index-rows.ts'
import type { PartName, SearchIndex } from '../../src/search/loaded-index.ts'
import type { RankedRow } from '../../src/search/ranked-page.ts'
import type { SearchOutcome } from '../../src/search/search-index.ts'
import { toBytes } from '../http/to-bytes.ts'
import type { PreparedTexts } from '../release/prepare-texts.ts'
import { type TakeMemory, takeFreshMemory } from './response-memory.ts'
import { ADDED_BYTES, writeListing } from './write-listing.ts'

export interface SearchResponseInput {
  index: SearchIndex
  searchId: string
  query: SearchQuery
  outcome: SearchOutcome
  texts: PreparedTexts
}

/** What a list of listings is written from and into. */
interface Target {
  memory: Buffer<ArrayBuffer>
  index: SearchIndex
}

const COMMA = 0x2c
const FEATURED = toBytes('],"featured":[')
const POSITION = '&pos='
const NO_NOTES = toBytes('[]')
/** The most UTF-8 a UTF-16 unit can become. */
const MAX_BYTES = 3

/**
 * Puts the response together from the bodies' prepared bytes: nothing is parsed or serialised
 * again. Only `links.go` and `relevance` are added to each listing; `pos` counts within `results`,
 * so that listings of our own rows carry a link without it.
 *
 * @param take where the body's memory comes from
 */
export function writeSearchResponse(
  input: SearchResponseInput,
  take: TakeMemory = takeFreshMemory,
): Buffer<ArrayBuffer> {
  const { index, searchId, query, outcome, texts } = input
  const { organic, firstParty } = outcome
  const echo = `{"search_id":"${searchId}","query":${JSON.stringify(query)},"total":${organic.total},"results":[`
  const notes = outcome.notes.length === 0 ? NO_NOTES : toBytes(JSON.stringify(outcome.notes))
  const memory = take(sizeOf(input) + echo.length * MAX_BYTES + notes.length)
  const counted = toBytes(`?sid=${searchId}${POSITION}`)
  const target = { memory, index }
  const own = { part: 'firstParty', searchId: counted.subarray(0, -POSITION.length) } as const
  let at = memory.write(echo)
  at = writeRows(target, at, { part: 'organic', rows: organic.rows, searchId: counted })
  at = writeBytes(memory, at, FEATURED)
  at = writeRows(target, at, { ...own, rows: texts.featured })
  at = writeBytes(memory, at, texts.afterFeatured)
  at = writeRows(target, at, { ...own, rows: firstParty.rows })
  at = writeBytes(memory, at, texts.beforeNotes)
  at = writeBytes(memory, at, notes)
  at = writeBytes(memory, at, texts.afterNotes)
  return memory.subarray(0, at)
}

/** The most bytes all but the echo and the notes may take. */
function sizeOf({ index, outcome, texts }: SearchResponseInput): number {
  const own = [texts.featured, outcome.firstParty.rows]
  return (
    sizeOfRows(index, 'organic', outcome.organic.rows) +
    own.reduce((bytes, rows) => bytes + sizeOfRows(index, 'firstParty', rows), 0) +
    FEATURED.length +
    texts.bytes
  )
}

function sizeOfRows(index: SearchIndex, part: PartName, rows: readonly RankedRow[]): number {
  let bytes = 0
  for (const { row } of rows) bytes += sizeOfBody(index, part, row) + ADDED_BYTES
  return bytes
}

function writeBytes(memory: Uint8Array, at: number, bytes: Uint8Array): number {
  memory.set(bytes, at)
  return at + bytes.length
}

/** Only organic rows have a position: what is our own competes with nobody. */
function writeRows(
  { memory, index }: Target,
  start: number,
  { part, rows, searchId }: { part: PartName; rows: readonly RankedRow[]; searchId: Uint8Array },
): number {
  let at = start
  let position = 0
  for (const { row, relevance } of rows) {
    if (at > start) at = writeComma(memory, at)
    if (part === 'organic') position += 1
    const body = readBody(index, part, row)
    const idLength = idLengthIn(body)
    at = writeListing(memory, at, { body, idLength, relevance, searchId, position })
  }
  return at
}

function writeComma(memory: Uint8Array, at: number): number {
  memory[at] = COMMA
  return at + 1
}
