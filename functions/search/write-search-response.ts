import type { SearchQuery } from '../../src/domain/search-query.ts'
import { findId } from '../../src/search/find-id.ts'
import { idBytesIn, readBody } from '../../src/search/index-rows.ts'
import type { PartName, SearchIndex } from '../../src/search/loaded-index.ts'
import type { RankedRow } from '../../src/search/ranked-page.ts'
import type { SearchOutcome } from '../../src/search/search-index.ts'
import { type ByteWriter, createByteWriter } from './byte-writer.ts'

/** The texts of a search response that come from the content. */
export interface SearchTexts {
  /** Ids of the showcase row, in order; an id that isn't one of our own listings is left out. */
  featured: readonly string[]
  featured_label: string
  sponsored_policy: string
  also_search: readonly { name: string; url: string; note: string }[]
  ranking: string
  attribution: readonly string[]
}

export interface SearchResponseInput {
  index: SearchIndex
  searchId: string
  query: SearchQuery
  outcome: SearchOutcome
  texts: SearchTexts
}

/** Every body ends with the closing brackets of `links` and of the summary. */
const BODY_ENDING_BYTES = 2
/** Room for what is added to a listing, and for the rest of a response: it saves growing. */
const ADDED_BYTES = 240
const OTHER_BYTES = 4096

/** A listing of a response, before its two members of this search are added. */
interface Listing {
  body: Uint8Array
  relevance: number
}

/**
 * Puts the response together from the bodies' prepared bytes: nothing is parsed or serialised
 * again. Only `links.go` and `relevance` are added to each listing; `pos` counts within `results`,
 * so that listings of our own rows carry a link without it.
 */
export function writeSearchResponse(input: SearchResponseInput): Uint8Array<ArrayBuffer> {
  const { index, searchId, query, outcome, texts } = input
  const organic = readListings(index, 'organic', outcome.organic.rows)
  const firstParty = readListings(index, 'firstParty', outcome.firstParty.rows)
  const featured = readListings(index, 'firstParty', featuredRows(index, texts.featured))
  const writer = createByteWriter(sizeOf([...organic, ...firstParty, ...featured]))

  writer.text(`{"search_id":"${searchId}","query":${JSON.stringify(query)},`)
  writer.text(`"total":${outcome.organic.total},"results":[`)
  writeListings(writer, organic, searchId, true)
  writer.text('],"featured":[')
  writeListings(writer, featured, searchId, false)
  writer.text(`],"featured_label":${JSON.stringify(texts.featured_label)},"featured_first_party":[`)
  writeListings(writer, firstParty, searchId, false)
  const { sponsored_policy, also_search, ranking, attribution } = texts
  const rest = { sponsored: [], sponsored_policy, also_search, ranking, payments_enabled: false }
  writer.text(`],${JSON.stringify({ ...rest, notes: outcome.notes, attribution }).slice(1)}`)
  return writer.written()
}

function readListings(
  index: SearchIndex,
  part: PartName,
  rows: readonly RankedRow[],
): readonly Listing[] {
  return rows.map(({ row, relevance }) => ({ body: readBody(index, part, row), relevance }))
}

function sizeOf(listings: readonly Listing[]): number {
  return listings.reduce((bytes, { body }) => bytes + body.length + ADDED_BYTES, OTHER_BYTES)
}

/** @param counted whether the links say a position */
function writeListings(
  writer: ByteWriter,
  listings: readonly Listing[],
  searchId: string,
  counted: boolean,
): void {
  listings.forEach(({ body, relevance }, at) => {
    const position = counted ? `&pos=${at + 1}` : ''
    if (at > 0) writer.text(',')
    writer.bytes(body.subarray(0, -BODY_ENDING_BYTES))
    writer.text(',"go":"/go/')
    writer.bytes(idBytesIn(body))
    writer.text(`?sid=${searchId}${position}&src=api"},"relevance":${relevance}}`)
  })
}

function featuredRows(index: SearchIndex, ids: readonly string[]): RankedRow[] {
  const { firstParty } = index
  return ids
    .map((id) => findId(index, 'firstParty', id))
    .filter((row) => row >= 0)
    .map((row) => ({ row, relevance: firstParty.multipliers[row] ?? 1 }))
}
