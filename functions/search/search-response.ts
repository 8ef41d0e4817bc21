import type { SearchQuery } from '../../src/domain/search/search-query.ts'
import {
  AUTH_TYPES,
  type AuthType,
  type ClickSource,
  RAILS,
} from '../../src/domain/wire/vocabulary.ts'
import { BODY_ENDING } from '../../src/search/index/body-records.ts'
import { readBody, readId } from '../../src/search/index/index-rows.ts'
import type { PartName, SearchIndex } from '../../src/search/index/index-shape.ts'
import { SUMMARY_END } from '../../src/search/index/search-document.ts'
import { NO_TRUST, trustOf } from '../../src/search/index/standing.ts'
import { valueAt } from '../../src/search/numbers/coded-column.ts'
import { hasValue } from '../../src/search/query/filter-rows.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'
import type { SearchOutcome } from '../../src/search/query/search-index.ts'
import { toBytes } from '../http/to-bytes.ts'
import type { PreparedTexts } from '../release/prepare-texts.ts'

export interface SearchResponseInput {
  index: SearchIndex
  searchId: string
  query: SearchQuery
  outcome: SearchOutcome
  texts: PreparedTexts
  /** What the links say of who shows them. */
  source?: ClickSource
  /** Set for the search page, submitted or while somebody types: what it shows of each organic row beside its members. */
  page?: readonly object[]
}

/** A stretch of a response: text, bytes that are the same in every response, or a listing. */
export type Piece = string | Uint8Array | ListedRow

export interface ListedRow {
  part: PartName
  row: number
  id: string
  /** What takes the place of the brackets that its body ends with. */
  ending: string
}

/**
 * A response of the full view, piece by piece. Nothing is parsed or serialised again: `links.go` and
 * `relevance` are added to each listing's prepared bytes, and what was asked for beside them.
 */
export function fullPieces({
  index,
  searchId,
  query,
  outcome,
  texts,
  source = 'api',
}: SearchResponseInput): Piece[] {
  const { organic, firstParty, explained } = outcome
  const list = (part: PartName, rows: readonly RankedRow[], more: readonly object[] = []) =>
    rows.flatMap(({ row, relevance }, at): Piece[] => {
      const id = readId(index, part, row)
      // A row's place is in its link where rows compete: what is our own competes with nobody.
      const place = part === 'organic' ? `&pos=${at + 1}` : ''
      const explain = more[at] === undefined ? '' : `,"explain":${JSON.stringify(more[at])}`
      const link = `/go/${id}?sid=${searchId}${place}&src=${source}`
      const ending = `,"go":"${link}"},"relevance":${relevance}${explain}}`
      return [at === 0 ? '' : ',', { part, row, id, ending }]
    })
  return [
    echoOf(searchId, query, organic.total),
    ...list('organic', organic.rows, explained?.organic),
    '],"featured":[',
    ...list('firstParty', texts.featured),
    texts.afterFeatured,
    ...list('firstParty', firstParty.rows, explained?.firstParty),
    texts.beforeNotes,
    besideOf(outcome),
    texts.afterNotes,
  ]
}

export function writeSearchResponse(input: SearchResponseInput): Uint8Array<ArrayBuffer> {
  if (input.query.view === 'compact') return toBytes(compactText(input))
  const chunks = fullPieces(input).flatMap((piece) => {
    if (typeof piece === 'string') return piece === '' ? [] : toBytes(piece)
    if (piece instanceof Uint8Array) return piece
    const body = readBody(input.index, piece.part, piece.row)
    return [body.subarray(0, body.length - BODY_ENDING.length), toBytes(piece.ending)]
  })
  return joinBytes(chunks)
}

export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    joined.set(chunk, at)
    at += chunk.length
  }
  return joined
}

/** The compact view: short rows, no showcase, no texts; for the page our own kits that match, too. */
function compactText({ index, searchId, query, outcome, page }: SearchResponseInput): string {
  const { organic, firstParty, explained } = outcome
  const rows = organic.rows.map(({ row }, at) => {
    const more = { ...(explained && { explain: explained.organic[at] }), ...page?.[at] }
    const members = JSON.stringify(more).slice(1, -1)
    return `${summaryOf(index, 'organic', row)}${factsOf(index, row)}${members && `,${members}`}}`
  })
  const own = firstParty.rows.map(({ row }) => `${summaryOf(index, 'firstParty', row)}}`)
  return [
    `${echoOf(searchId, query, organic.total)}${rows.join()}],"sponsored":[],"payments_enabled":false,"notes":`,
    besideOf(outcome),
    page === undefined || own.length === 0 ? '' : `,"featured_first_party":[${own.join()}]`,
    '}',
  ].join('')
}

function echoOf(searchId: string, query: SearchQuery, total: number): string {
  return `{"search_id":"${searchId}","query":${JSON.stringify(query)},"total":${total},"results":[`
}

/** The notes, and what is told beside them. */
function besideOf({ notes, suggested, facets }: SearchOutcome): string {
  return [
    JSON.stringify(notes),
    suggested.length === 0 ? '' : `,"suggested":${JSON.stringify(suggested)}`,
    facets === undefined ? '' : `,"facets":${JSON.stringify(facets)}`,
  ].join('')
}

const decoder = new TextDecoder()

function summaryOf(index: SearchIndex, part: PartName, row: number): string {
  const body = decoder.decode(readBody(index, part, row))
  return body.slice(0, body.indexOf(SUMMARY_END))
}

function factsOf(index: SearchIndex, row: number): string {
  const { organic, filterPlaces } = index
  const holds = (value: string) => hasValue(organic, filterPlaces.get(value) ?? 0, row)
  const [low, high] = [valueAt(organic.minUsd, row), valueAt(organic.maxUsd, row)]
  const auth: AuthType = AUTH_TYPES.find((type) => holds(`auth:${type}`)) ?? 'unknown'
  const trust = trustOf(organic.standings[row] ?? NO_TRUST)
  const members = JSON.stringify({
    price: Number.isNaN(low) ? null : { min_usd: low, max_usd: high },
    rails: RAILS.filter((rail) => holds(`rail:${rail}`)),
    auth,
    trust: trust === NO_TRUST ? null : trust,
    ...(trust !== NO_TRUST && { vouched: holds('vouched') }),
    call: holds('call'),
  })
  return `,${members.slice(1, -1)}`
}
