import type { SearchQuery } from '../../src/domain/search/search-query.ts'
import type { ClickSource } from '../../src/domain/wire/vocabulary.ts'
import { readBody } from '../../src/search/index/index-rows.ts'
import type { PartName, SearchIndex } from '../../src/search/index/index-shape.ts'
import { SUMMARY_END } from '../../src/search/index/search-document.ts'
import type { RowExplanation } from '../../src/search/query/explain-rows.ts'
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
  /** Asked by a page while somebody types. */
  isTyping?: boolean
}

/** A stretch of a response: bytes, or listings with a comma between them. */
export type Piece = { bytes: Uint8Array; isPrepared?: true } | ListedRows

export interface ListedRows {
  part: PartName
  rows: readonly RankedRow[]
  /** `?sid=…&pos=`, or `?sid=…` alone where links carry no position. */
  searchId: Uint8Array
  /** Whether a row's place is in its link: only organic rows, what is our own competes with nobody. */
  isCounted: boolean
  source: Uint8Array
  /** Of each row, what was asked for beside it. */
  more: readonly Uint8Array[]
}

const FEATURED = toBytes('],"featured":[')
/** What is left of an answer in the compact view: no showcase, no texts. */
const COMPACT_ENDING = '],"sponsored":[],"payments_enabled":false,"notes":'
const POSITION = '&pos='
const NO_NOTES = toBytes('[]')
const NOTHING = new Uint8Array(0)
const SOURCES = new Map<string, Uint8Array>()

/**
 * A response of the full view, piece by piece. Nothing is parsed or serialised again: `links.go` and
 * `relevance` are added to each listing's prepared bytes, and what was asked for beside them.
 */
export function fullPieces(input: SearchResponseInput): Piece[] {
  const { searchId, outcome, texts, source = 'api' } = input
  const more = explanationsOf(outcome)
  const counted = toBytes(`?sid=${searchId}${POSITION}`)
  const own = {
    part: 'firstParty',
    searchId: counted.subarray(0, -POSITION.length),
    isCounted: false,
    source: sourceOf(source),
  } as const
  const results = { ...own, part: 'organic', searchId: counted, isCounted: true } as const
  return [
    { bytes: echoOf(input) },
    { ...results, rows: outcome.organic.rows, more: more.organic },
    { bytes: FEATURED },
    { ...own, rows: texts.featured, more: [] },
    { bytes: texts.afterFeatured, isPrepared: true },
    { ...own, rows: outcome.firstParty.rows, more: more.firstParty },
    { bytes: texts.beforeNotes, isPrepared: true },
    { bytes: notesOf(outcome) },
    { bytes: suggestedOf(outcome) },
    { bytes: facetsOf(outcome) },
    { bytes: texts.afterNotes, isPrepared: true },
  ]
}

/** What stands before and behind the rows of the compact view, and what was asked for beside each. */
export function compactFrame(input: SearchResponseInput) {
  const { outcome } = input
  const { notes } = outcome
  return {
    start: echoOf(input),
    more: explanationsOf(outcome).organic,
    end: toBytes(
      `${COMPACT_ENDING}${JSON.stringify(notes)}${suggestedText(outcome)}${facetsText(outcome)}${ownText(input)}}`,
    ),
  }
}

/**
 * Our own kits that match, for the page that asks while somebody types: it shows what the submitted
 * page does. Nobody else's compact answer has a byte of them.
 *
 * @example ownText(…) → ',"featured_first_party":[{"id":"kit.a","name":"A","kind":"kit","summary":"…"}]'
 */
function ownText({ index, outcome, isTyping = false }: SearchResponseInput): string {
  if (!isTyping || outcome.firstParty.rows.length === 0) return ''
  const rows = outcome.firstParty.rows.map(({ row }) => {
    const body = new TextDecoder().decode(readBody(index, 'firstParty', row))
    return `${body.slice(0, body.indexOf(SUMMARY_END))}}`
  })
  return `,"featured_first_party":[${rows.join()}]`
}

function echoOf({ searchId, query, outcome }: SearchResponseInput): Uint8Array {
  return toBytes(
    `{"search_id":"${searchId}","query":${JSON.stringify(query)},"total":${outcome.organic.total},"results":[`,
  )
}

function sourceOf(source: ClickSource): Uint8Array {
  const known = SOURCES.get(source)
  if (known !== undefined) return known
  const bytes = toBytes(`&src=${source}`)
  SOURCES.set(source, bytes)
  return bytes
}

function notesOf({ notes }: SearchOutcome): Uint8Array {
  return notes.length === 0 ? NO_NOTES : toBytes(JSON.stringify(notes))
}

function suggestedOf(outcome: SearchOutcome): Uint8Array {
  return outcome.suggested.length === 0 ? NOTHING : toBytes(suggestedText(outcome))
}

function suggestedText({ suggested }: SearchOutcome): string {
  return suggested.length === 0 ? '' : `,"suggested":${JSON.stringify(suggested)}`
}

function facetsOf(outcome: SearchOutcome): Uint8Array {
  return outcome.facets === undefined ? NOTHING : toBytes(facetsText(outcome))
}

function facetsText({ facets }: SearchOutcome): string {
  return facets === undefined ? '' : `,"facets":${JSON.stringify(facets)}`
}

function explanationsOf({ explained }: SearchOutcome): Record<PartName, Uint8Array[]> {
  const members = (explanations: readonly RowExplanation[] = []) =>
    explanations.map((explanation) => toBytes(`,"explain":${JSON.stringify(explanation)}`))
  return { organic: members(explained?.organic), firstParty: members(explained?.firstParty) }
}
