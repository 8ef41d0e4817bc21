import type { SearchQuery } from '../../src/domain/search/search-query.ts'
import type { ClickSource } from '../../src/domain/wire/vocabulary.ts'
import { idLengthIn, readBody, sizeOfBody } from '../../src/search/index/index-rows.ts'
import type { PartName, SearchIndex } from '../../src/search/index/index-shape.ts'
import type { RowExplanation } from '../../src/search/query/explain-rows.ts'
import type { SearchOutcome } from '../../src/search/query/search-index.ts'
import type { RankedRow } from '../../src/search/query/sort-rows.ts'
import { toBytes } from '../http/to-bytes.ts'
import type { PreparedTexts } from '../release/prepare-texts.ts'
import type { BodyPlace } from './compress-response.ts'
import { type TakeMemory, takeFreshMemory } from './response-memory.ts'
import { MAX_SUFFIX_BYTES, writeCompactListing } from './write-compact-listing.ts'
import { ADDED_BYTES, BODY_ENDING_BYTES, writeListing } from './write-listing.ts'

export interface SearchResponseInput {
  index: SearchIndex
  searchId: string
  query: SearchQuery
  outcome: SearchOutcome
  texts: PreparedTexts
  /** What the links say of who shows them. */
  source?: ClickSource
  /** Told where each listing's own bytes lie, for whoever compresses them apart. */
  places?: BodyPlace[]
}

/** What a list of listings is written from and into. */
interface Target {
  memory: Buffer<ArrayBuffer>
  index: SearchIndex
  source: Uint8Array
  places: BodyPlace[] | undefined
}

const COMMA = 0x2c
const FEATURED = toBytes('],"featured":[')
/** What is left of an answer in the compact view: no showcase, no texts. */
const COMPACT_ENDING = '],"sponsored":[],"payments_enabled":false,"notes":'
const POSITION = '&pos='
const NO_NOTES = toBytes('[]')
const NOTHING = new Uint8Array(0)
/** The most UTF-8 a UTF-16 unit can become. */
const MAX_BYTES = 3

/**
 * Puts the response together from the bodies' prepared bytes: nothing is parsed or serialised
 * again. Only `links.go` and `relevance` are added to each listing, and what was asked for beside
 * them; `pos` counts within `results`, so that listings of our own rows carry a link without it.
 *
 * @param take where the body's memory comes from
 */
export function writeSearchResponse(
  input: SearchResponseInput,
  take: TakeMemory = takeFreshMemory,
): Buffer<ArrayBuffer> {
  const { searchId, query, outcome } = input
  const echo = `{"search_id":"${searchId}","query":${JSON.stringify(query)},"total":${outcome.organic.total},"results":[`
  return query.view === 'compact' ? writeCompact(input, echo, take) : writeFull(input, echo, take)
}

function writeFull(input: SearchResponseInput, echo: string, take: TakeMemory) {
  const { index, searchId, outcome, texts, source = 'api', places } = input
  const { organic, firstParty } = outcome
  const explained = explanationsOf(outcome)
  const notes = outcome.notes.length === 0 ? NO_NOTES : toBytes(JSON.stringify(outcome.notes))
  const facets = facetsOf(outcome)
  const bytes = sizeOf(input) + echo.length * MAX_BYTES + notes.length + facets.length
  const memory = take(bytes + sizeOfAll(explained.organic) + sizeOfAll(explained.firstParty))
  const counted = toBytes(`?sid=${searchId}${POSITION}`)
  const target = { memory, index, source: toBytes(`&src=${source}`), places }
  const own = { part: 'firstParty', searchId: counted.subarray(0, -POSITION.length) } as const
  let at = memory.write(echo)
  const results = { part: 'organic', rows: organic.rows, searchId: counted } as const
  at = writeRows(target, at, { ...results, explained: explained.organic })
  at = writeBytes(memory, at, FEATURED)
  at = writeRows(target, at, { ...own, rows: texts.featured, explained: [] })
  at = writeText(target, at, texts.afterFeatured, 0)
  at = writeRows(target, at, { ...own, rows: firstParty.rows, explained: explained.firstParty })
  at = writeText(target, at, texts.beforeNotes, 1)
  at = writeBytes(memory, at, notes)
  at = writeBytes(memory, at, facets)
  at = writeText(target, at, texts.afterNotes, 2)
  return memory.subarray(0, at)
}

function writeCompact(input: SearchResponseInput, echo: string, take: TakeMemory) {
  const { index, outcome } = input
  const { rows } = outcome.organic
  const explained = explanationsOf(outcome).organic
  const ending = toBytes(COMPACT_ENDING + JSON.stringify(outcome.notes))
  const facets = facetsOf(outcome)
  const fixed = echo.length * MAX_BYTES + ending.length + facets.length + 1
  const rowBytes = sizeOfRows(index, 'organic', rows) + rows.length * MAX_SUFFIX_BYTES
  const memory = take(fixed + rowBytes + sizeOfAll(explained))
  let at = memory.write(echo)
  rows.forEach(({ row }, place) => {
    if (place > 0) at = writeComma(memory, at)
    at = writeCompactListing(memory, at, { index, row, more: explained[place] ?? NOTHING })
  })
  at = writeBytes(memory, at, ending)
  at = writeBytes(memory, at, facets)
  at += memory.write('}', at)
  return memory.subarray(0, at)
}

function facetsOf({ facets }: SearchOutcome): Uint8Array {
  return facets === undefined ? NOTHING : toBytes(`,"facets":${JSON.stringify(facets)}`)
}

function explanationsOf({ explained }: SearchOutcome): Record<PartName, Uint8Array[]> {
  const members = (explanations: readonly RowExplanation[] = []) =>
    explanations.map((explanation) => toBytes(`,"explain":${JSON.stringify(explanation)}`))
  return { organic: members(explained?.organic), firstParty: members(explained?.firstParty) }
}

function sizeOfAll(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

/** The most bytes all but the echo, the notes and what was asked for beside them may take. */
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

/** A text that is the same in every response. @param row its number among those */
function writeText({ memory, places }: Target, start: number, bytes: Uint8Array, row: number) {
  places?.push({ part: 'texts', row, start, end: start + bytes.length })
  return writeBytes(memory, start, bytes)
}

interface RowsToWrite {
  part: PartName
  rows: readonly RankedRow[]
  searchId: Uint8Array
  explained: readonly Uint8Array[]
}

/** Only organic rows have a position: what is our own competes with nobody. */
function writeRows(
  { memory, index, source, places }: Target,
  start: number,
  { part, rows, searchId, explained }: RowsToWrite,
): number {
  let at = start
  let place = 0
  for (const { row, relevance } of rows) {
    if (at > start) at = writeComma(memory, at)
    const more = explained[place] ?? NOTHING
    place += 1
    const body = readBody(index, part, row)
    const idLength = idLengthIn(body)
    places?.push({ part, row, start: at, end: at + body.length - BODY_ENDING_BYTES })
    const position = part === 'organic' ? place : 0
    at = writeListing(memory, at, { body, idLength, relevance, searchId, position, source, more })
  }
  return at
}

function writeComma(memory: Uint8Array, at: number): number {
  memory[at] = COMMA
  return at + 1
}
