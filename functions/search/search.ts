import {
  type ParameterProblem,
  parseSearchParameters,
  type SearchQuery,
} from '../../src/domain/search/search-parameters.ts'
import type { CompactRow, PageResponse } from '../../src/domain/search/search-response.ts'
import { AUTH_TYPES, type ClickSource, RAILS, WARNINGS } from '../../src/domain/wire/vocabulary.ts'
import { NO_TRUST, trustOf, valueAt } from '../../src/search/index/columns.ts'
import { idOf, readBody, type SearchIndex } from '../../src/search/index/index-file.ts'
import { SUMMARY_END } from '../../src/search/index/search-document.ts'
import { hashText, type RangeName } from '../../src/search/index/terms.ts'
import { bitsFor, passes } from '../../src/search/query/filter-rows.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'
import { type SearchOutcome, searchIndex } from '../../src/search/query/search-index.ts'
import { ANY_ORIGIN, toBytes, UNCACHED } from '../http/answers.ts'
import type { prepareTexts } from '../release/prepare-texts.ts'

/** How many queries are remembered for one index: a few megabytes at most. */
const REMEMBERED_QUERIES = 2000
/** How many hashes of recent queries are kept: most queries are made once, and are not worth remembering. */
const REQUESTED_ONCE = 2 ** 14

/** Agents repeat only short queries; longer texts are not worth the memory. */
const MAX_REMEMBERED_CHARACTERS = 256

type SearchTexts = ReturnType<typeof prepareTexts>

interface SearchParts {
  /** The current index; read once per request, so that a swap is atomic. */
  index: () => SearchIndex
  /** The texts prepared for that index. */
  texts: () => SearchTexts
  /** Additional members of the search page's rows; absent on hosts without that page. */
  pageMembers?: (index: SearchIndex, answered: AnsweredQuery) => PageMembers[]
  /** The hint shown if a text is an address without a listing. */
  noteOn?: (index: SearchIndex, text: string) => string | null
  randomUuid: () => string
  /** Called with the organic rows a search showed; it must not slow the search down. */
  onShown?: (index: SearchIndex, rows: readonly RankedRow[]) => void
  /** How many answered queries are cached; 0 searches each time. */
  remembered?: number
}

type SearchReply =
  | { status: 200; headers: Readonly<Record<string, string>>; body: Uint8Array<ArrayBuffer> }
  | { status: 400; problems: readonly ParameterProblem[] }

export type Search = (rawQuery: string, options?: SearchOptions) => SearchReply

interface SearchOptions {
  /** For the search page, whose rows show more: `submitted`, or `typing`, which is not counted. */
  page?: 'submitted' | 'typing' | undefined
}

export const HEADERS = {
  ...UNCACHED,
  ...ANY_ORIGIN,
  'Content-Type': 'application/json',
} as const

/**
 * `GET /api/v1/search` without a framework: takes the raw text after `?` and returns a reply. Wrong
 * parameters come back as `problems` for the one formatter of errors (`invalid-parameter`).
 */
export function createSearch(parts: SearchParts): Search {
  const { index, randomUuid, onShown, remembered } = parts
  const answeredQueries = createAnsweredQueries(remembered)
  return function search(rawQuery, { page } = {}) {
    const serving = index()
    const known = answeredQueries.find(serving, rawQuery)
    const answered = known ?? answer(serving, rawQuery, parts.noteOn)
    if ('problems' in answered) return { status: 400, problems: answered.problems }
    if (known === undefined) answeredQueries.keep(serving, rawQuery, answered)
    const body = writeSearchResponse({
      ...answered,
      index: serving,
      searchId: randomUuid(),
      texts: parts.texts(),
      ...(page !== undefined && {
        source: 'web' as const,
        page: parts.pageMembers?.(serving, answered) ?? [],
      }),
    })
    if (page !== 'typing') onShown?.(serving, answered.outcome.organic.rows)
    return { status: 200, headers: HEADERS, body }
  }
}

function answer(
  index: SearchIndex,
  rawQuery: string,
  noteOn: SearchParts['noteOn'],
): AnsweredQuery | { problems: readonly ParameterProblem[] } {
  const parsed = parseSearchParameters(rawQuery, index.filters)
  if ('problems' in parsed) return parsed
  const { query } = parsed
  const outcome = searchIndex(index, query)
  const note = query.q === undefined ? null : (noteOn?.(index, query.q) ?? null)
  return note === null
    ? { query, outcome }
    : { query, outcome: { ...outcome, notes: [note, ...outcome.notes] } }
}

export type PageMembers = Omit<PageResponse['results'][number], keyof CompactRow>

/** An answered query: how it was understood, and which rows it found. */
export interface AnsweredQuery {
  query: SearchQuery
  outcome: SearchOutcome
}

/**
 * Caches the answers to queries that were made at least twice. An index never changes, so nothing
 * here can be stale; a new index clears everything.
 * @param most how many answers are cached; the least recently used are dropped first. 0 caches none
 */
function createAnsweredQueries(most = REMEMBERED_QUERIES) {
  let of: SearchIndex | undefined
  let remembered = new Map<string, AnsweredQuery>()
  const requestedOnce = new Uint32Array(REQUESTED_ONCE)
  return {
    find(index: SearchIndex, rawQuery: string): AnsweredQuery | undefined {
      if (index !== of) return undefined
      const answered = remembered.get(rawQuery)
      if (answered === undefined) return undefined
      remembered.delete(rawQuery)
      remembered.set(rawQuery, answered)
      return answered
    },
    keep(index: SearchIndex, rawQuery: string, answered: AnsweredQuery): void {
      if (rawQuery.length > MAX_REMEMBERED_CHARACTERS || most === 0) return
      const hash = hashText(rawQuery)
      const isSecond = requestedOnce[hash % REQUESTED_ONCE] === hash
      requestedOnce[hash % REQUESTED_ONCE] = hash
      if (!isSecond) return
      if (index !== of) remembered = new Map()
      of = index
      remembered.set(rawQuery, answered)
      if (remembered.size <= most) return
      const [oldest] = remembered.keys()
      if (oldest !== undefined) remembered.delete(oldest)
    },
  }
}

interface SearchResponseInput {
  index: SearchIndex
  searchId: string
  query: SearchQuery
  outcome: SearchOutcome
  texts: SearchTexts
  /** The `src` in links: who shows these links. */
  source?: ClickSource
  /** Set for the search page, submitted or while typing: additional members of organic rows. */
  page?: readonly object[]
}

/**
 * Writes a response without parsing or serialising listings: `links.go`, `relevance` and any
 * requested extras are added to each listing's prepared bytes.
 */
function writeSearchResponse(input: SearchResponseInput): Uint8Array<ArrayBuffer> {
  const { index, searchId, query, outcome, texts, source = 'api' } = input
  if (query.view === 'compact') return toBytes(compactText(input))
  const { organic, firstParty, explained } = outcome
  const bytes = startBytes()
  const addRows = (range: RangeName, rows: readonly RankedRow[], more: readonly object[] = []) => {
    rows.forEach(({ row, relevance }, at) => {
      if (at > 0) bytes.text(',')
      const body = readBody(index, row)
      bytes.add(body.subarray(0, body.length - BODY_END.length))
      bytes.text(',"go":"/go/')
      bytes.add(idOf(body))
      // A row's link contains its position if rows compete; our own listings do not compete.
      const place = range === 'organic' ? `&pos=${at + 1}` : ''
      const explain = more[at] === undefined ? '' : `,"explain":${JSON.stringify(more[at])}`
      bytes.text(`?sid=${searchId}${place}&src=${source}"},"relevance":${relevance}${explain}}`)
    })
  }
  bytes.text(echoOf(searchId, query, organic.total))
  addRows('organic', organic.rows, explained?.organic)
  bytes.text('],"featured":[')
  addRows('firstParty', texts.featured)
  bytes.add(texts.afterFeatured)
  addRows('firstParty', firstParty.rows, explained?.firstParty)
  bytes.add(texts.beforeNotes)
  bytes.text(besideOf(outcome, texts))
  bytes.add(texts.afterNotes)
  return bytes.take()
}

/** The closing brackets of `links` and of the summary. */
const BODY_END = '}}'
const MOST_BYTES_A_CHARACTER = 3
const encoder = new TextEncoder()
/** Answers are written here one at a time, and the bytes of each are copied out at the end. */
let memory = new Uint8Array(2 ** 16)

function startBytes() {
  let length = 0
  const reserve = (more: number) => {
    if (length + more <= memory.length) return
    const larger = new Uint8Array(2 * (length + more))
    larger.set(memory)
    memory = larger
  }
  return {
    text(text: string): void {
      reserve(text.length * MOST_BYTES_A_CHARACTER)
      length += encoder.encodeInto(text, memory.subarray(length)).written
    },
    add(more: Uint8Array): void {
      reserve(more.length)
      memory.set(more, length)
      length += more.length
    },
    take: (): Uint8Array<ArrayBuffer> => memory.slice(0, length),
  }
}

/** The compact view: short rows without showcase and texts; for the search page, also rows for our own kits that match. */
function compactText({
  index,
  searchId,
  query,
  outcome,
  texts,
  page,
}: SearchResponseInput): string {
  const { organic, firstParty, explained } = outcome
  const rows = organic.rows.map(({ row }, at) => {
    const more = { ...(explained && { explain: explained.organic[at] }), ...page?.[at] }
    const members = JSON.stringify(more).slice(1, -1)
    return `${summaryOf(index, row)}${factsOf(index, row)}${members && `,${members}`}}`
  })
  const own = firstParty.rows.map(({ row }) => `${summaryOf(index, row)}}`)
  return [
    `${echoOf(searchId, query, organic.total)}${rows.join()}],"sponsored":[],"payments_enabled":false,"notes":`,
    besideOf(outcome, texts),
    page === undefined || own.length === 0 ? '' : `,"featured_first_party":[${own.join()}]`,
    '}',
  ].join('')
}

function echoOf(searchId: string, query: SearchQuery, total: number): string {
  return `{"search_id":"${searchId}","query":${JSON.stringify(query)},"total":${total},"results":[`
}

/** The notes, and the hints that go with them. */
function besideOf(
  { notes, task, suggested, facets }: SearchOutcome,
  { tasks }: SearchTexts,
): string {
  return [
    JSON.stringify(notes),
    (task !== null && tasks.get(task)) || '',
    suggested.length === 0 ? '' : `,"suggested":${JSON.stringify(suggested)}`,
    facets === undefined ? '' : `,"facets":${JSON.stringify(facets)}`,
  ].join('')
}

const decoder = new TextDecoder()

function summaryOf(index: SearchIndex, row: number): string {
  const body = decoder.decode(readBody(index, row))
  return body.slice(0, body.indexOf(SUMMARY_END))
}

function factsOf(index: SearchIndex, row: number): string {
  const holds = (value: string) => passes(bitsFor(index, value), row)
  const [low, high] = [valueAt(index.minUsd, row), valueAt(index.maxUsd, row)]
  const auth: AuthType = AUTH_TYPES.find((type) => holds(`auth:${type}`)) ?? 'unknown'
  const trust = trustOf(index.trustMarks[row] ?? NO_TRUST)
  const paid = index.paidTexts[index.paidCodes[row] ?? 0] ?? ''
  const warning = WARNINGS.find((each) => holds(`warning:${each}`))
  const members = JSON.stringify({
    price: Number.isNaN(low) ? null : { min_usd: low, max_usd: high },
    rails: RAILS.filter((rail) => holds(`rail:${rail}`)),
    auth,
    trust: trust === NO_TRUST ? null : trust,
    ...(trust !== NO_TRUST && { vouched: holds('vouched') }),
    call: holds('call'),
    ...(paid !== '' && { paid }),
    ...(warning !== undefined && { warning }),
  })
  return `,${members.slice(1, -1)}`
}

type AuthType = (typeof AUTH_TYPES)[number]
