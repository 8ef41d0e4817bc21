import type { ArgumentSlot } from '../../src/domain/arguments/argument-slots.ts'
import { fillArguments } from '../../src/domain/arguments/fill-arguments.ts'
import { type QuestionFacts, readQuestionFacts } from '../../src/domain/arguments/question-facts.ts'
import { sizeOf } from '../../src/domain/doors/cards/fitted-lists.ts'
import { MAX_OFFERS } from '../../src/domain/kit/found-operation.ts'
import {
  type ParameterProblem,
  parseSearchParameters,
} from '../../src/domain/search/search-parameters.ts'
import { OPERATIONS_ENDPOINT, type SearchQuery } from '../../src/domain/search/search-query.ts'
import type { OperationsAnswer } from '../../src/domain/search/search-response.ts'
import { SELLER_TEXTS } from '../../src/domain/wire/seller-texts.ts'
import { readBody, readId } from '../../src/search/index/index-rows.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import type { RankedRow, RankedRows } from '../../src/search/query/rank-rows.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import type { Suggestion } from '../../src/search/query/suggest-filters.ts'
import { splitText } from '../../src/search/words/split-text.ts'
import { stemWord } from '../../src/search/words/stem-word.ts'
import { toBytes } from '../http/to-bytes.ts'
import { type Clock, systemClock } from '../ports/clock.ts'
import { HEADERS, type Search } from './search.ts'

/** Of one listing at most so many stand among so many first places; the others follow. */
const FIRST_PLACES = 5
const OF_ONE_LISTING = 2
/** Rows that are looked at to fill the first places with those of several listings. */
const LOOKED_AT = 100
/** Rows of one listing that are looked at for the one whose name was asked for. */
const COMPARED = 8
/** Three results stay within a kilobyte and a half. */
const BYTES_A_ROW = 500
const FITTING = 'Results that pass this filter come first.'
const NONE_FITTING = 'No good match passes this filter, so other results come first.'

/** @returns what was found, or what is wrong with the parameters; `rawQuery` is the text behind `?` */
export type FindOperations = (
  rawQuery: string,
) => OperationsAnswer | { problems: readonly ParameterProblem[] }

/** Finds operations, tools and skills by the search's own engine and formula. */
export function createFindOperations({
  release,
  clock = systemClock,
}: {
  release: () => { operations: SearchIndex }
  clock?: Clock
}): FindOperations {
  return (rawQuery) => {
    const index = release().operations
    const parsed = parseSearchParameters(rawQuery, index.filters, OPERATIONS_ENDPOINT)
    if ('problems' in parsed) return parsed
    const { query } = parsed
    const end = query.offset + query.limit
    const asked = { ...query, offset: 0, limit: Math.max(LOOKED_AT, end) }
    const { organic, notes, suggested } = searchIndex(index, asked)
    const [meant] = suggested.filter(({ parameters }) => parameters.q !== undefined)
    const fitting =
      meant === undefined ? [] : closeRows(index, { ...asked, ...meant.parameters }, organic)
    const once = new Map([...fitting, ...organic.rows].map((row) => [row.row, row]))
    const found = [...once.values()].map((row) => ({ ...row, listing: listingOf(index, row.row) }))
    const rows = spread(putNamedFirst(index, query.q ?? '', found, end))
    const others = suggested.filter(({ parameters }) => parameters.sort === undefined)
    const facts = query.q === undefined ? null : readQuestionFacts(query.q, clock.now())
    return fitAnswer({
      total: organic.total,
      results: rows.slice(query.offset, end).map((row) => readResult(index, row, query, facts)),
      notes: [
        ...notes,
        ...(meant === undefined ? [] : [fitting.length > 0 ? FITTING : NONE_FITTING]),
      ],
      ...(others.length > 0 && { suggested: others.map(toWire) }),
      texts: SELLER_TEXTS,
    })
  }
}

/** What a narrower search finds that is at least half as relevant as the best without it. */
function closeRows(index: SearchIndex, query: SearchQuery, { rows: [best] }: RankedRows) {
  const { rows } = searchIndex(index, query).organic
  return rows.filter(({ relevance }) => best !== undefined && relevance >= best.relevance / 2)
}

/** What is undefined was not asked for. */
function toWire({ parameters, total }: Suggestion) {
  return { parameters: JSON.parse(JSON.stringify(parameters)), total }
}

/**
 * Of a listing's rows that answer about as well, the one whose name says most of what was asked, and
 * nothing else, changes places with the best: who queries a database wants `execute_sql` of it, not
 * `explain_query`, and who creates an event `create_event`, not `get_event`.
 *
 * @param end how many rows are shown
 */
function putNamedFirst(index: SearchIndex, q: string, rows: readonly FoundRow[], end: number) {
  const meant = wordsOf(q).flatMap((word) => [word, ...index.words.relatedTo(word)])
  const asked = new Set(meant.map(stemWord))
  const countSaid = (row: number) => {
    const { name = '' } = readStored(index, row).operation
    const words = wordsOf(name).filter((word) => !index.words.stop.has(word))
    return words.every((word) => asked.has(stemWord(word))) ? words.length : 0
  }
  const ordered = [...rows]
  const byListing = Map.groupBy(rows, ({ listing }) => listing)
  for (const own of [...byListing.values()].slice(0, Math.min(FIRST_PLACES, end))) {
    const [best] = own
    if (best === undefined) continue
    const close = own.slice(0, COMPARED).filter(({ relevance }) => relevance >= best.relevance / 2)
    // Reading names costs as much as the search: only where there is a choice.
    if (close.length === 1) continue
    const [named] = close
      .map((row) => ({ row, said: countSaid(row.row) }))
      .sort((a, b) => b.said - a.said)
    if (named === undefined || named.said === 0) continue
    ordered[rows.indexOf(named.row)] = best
    ordered[rows.indexOf(best)] = named.row
  }
  return ordered
}

function wordsOf(text: string): string[] {
  return splitText(text).flatMap(({ whole, parts }) => (parts.length > 0 ? parts : [whole]))
}

interface FoundRow extends RankedRow {
  listing: string
}

function listingOf(index: SearchIndex, row: number): string {
  return readId(index, 'organic', row).split('~', 1)[0] ?? ''
}

/** The rows in their order, but that no listing fills the first places alone. */
function spread(rows: readonly FoundRow[]): FoundRow[] {
  const counts = new Map<string, number>()
  const [first, later]: [FoundRow[], FoundRow[]] = [[], []]
  for (const row of rows) {
    const count = (counts.get(row.listing) ?? 0) + 1
    counts.set(row.listing, count)
    const isFirst = first.length < FIRST_PLACES && count <= OF_ONE_LISTING
    if (isFirst) first.push(row)
    else later.push(row)
  }
  return [...first, ...later]
}

type Result = OperationsAnswer['results'][number]
/** With where its example may be filled from the question. */
type Stored = Omit<Result, 'relevance'> & { slots: readonly ArgumentSlot[] }

function readStored(index: SearchIndex, row: number): Stored {
  // Typed `any` by `JSON.parse`: the build wrote these bytes.
  const stored = JSON.parse(new TextDecoder().decode(readBody(index, 'organic', row)))
  const { listing, digest, operation, slots = [] } = stored
  return { listing, operation, digest, slots }
}

function readResult(
  index: SearchIndex,
  { row, relevance }: RankedRow,
  query: SearchQuery,
  facts: QuestionFacts | null,
): Result {
  const { listing, operation, digest, slots } = readStored(index, row)
  const { offers, ...others } = operation
  const passing = offers?.filter((offer) => isAsked(offer, operation, query)).slice(0, MAX_OFFERS)
  return {
    listing,
    operation: {
      ...others,
      ...(passing !== undefined && { offers: passing }),
      ...toFilled(operation, slots, facts),
    },
    digest,
    // Two digits tell rows apart.
    relevance: Math.round(relevance * 100) / 100,
  }
}

/** The example with what was asked in place of its own values. */
function toFilled(
  { example, url = '' }: Result['operation'],
  slots: readonly ArgumentSlot[],
  facts: QuestionFacts | null,
) {
  if (example === undefined || facts === null || slots.length === 0) return {}
  return { example: fillArguments(url, example, slots, facts) }
}

/** Whether an offer passes the filters that its operation passed. */
function isAsked(
  { rail, network, min_usd }: NonNullable<Result['operation']['offers']>[number],
  { price }: Result['operation'],
  asked: SearchQuery,
): boolean {
  const usd = min_usd ?? price?.min_usd ?? 0
  return (
    (asked.rail === undefined || asked.rail === rail) &&
    (asked.network === undefined || asked.network === network) &&
    (asked.max_price_usd === undefined || usd <= asked.max_price_usd)
  )
}

/**
 * An agent pays for each byte: a row keeps all that its call needs, and what is beyond that as far as
 * there is room, the first rows first.
 */
function fitAnswer(answer: OperationsAnswer): OperationsAnswer {
  const results = answer.results.map((result, at) => without(result, toSpare(result, at)))
  let room = BYTES_A_ROW * results.length - sizeOf({ ...answer, results })
  answer.results.forEach((whole, at) => {
    const spare = toSpare(whole, at)
    // What matters most is taken back first.
    for (let left = spare.length - 1; left >= 0; left -= 1) {
      const result = results[at] ?? whole
      const more = without(whole, spare.slice(0, left))
      const bytes = sizeOf(more) - sizeOf(result)
      if (bytes > room) return
      room -= bytes
      results[at] = more
    }
  })
  return { ...answer, results }
}

/**
 * Members that a call does without, the least needed first. An example shows what must be given, too:
 * one of the two is enough, and the shorter one for rows behind the first.
 */
function toSpare({ operation }: Result, at: number): string[] {
  const { example, input } = operation
  const isSaidTwice = example !== undefined && input !== undefined
  const shown = at === 0 || sizeOf(example) <= sizeOf(input) ? 'input' : 'example'
  return ['relay_url', ...(isSaidTwice ? [shown] : []), 'description']
}

function without(result: Result, members: readonly string[]): Result {
  const kept = Object.entries(result.operation).filter(([name]) => !members.includes(name))
  return { ...result, operation: Object.fromEntries(kept) }
}

/** `GET /api/v1/operations` as a search that is mounted like the other. */
export function createOperationsSearch(find: FindOperations): Search {
  return (rawQuery) => {
    const answer = find(rawQuery)
    if ('problems' in answer) return { status: 400, problems: answer.problems }
    return { status: 200, headers: HEADERS, body: toBytes(JSON.stringify(answer)) }
  }
}
