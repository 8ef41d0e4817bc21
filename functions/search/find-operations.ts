import type { ArgumentSlot } from '../../src/domain/arguments/argument-slots.ts'
import { fillArguments } from '../../src/domain/arguments/fill-arguments.ts'
import {
  type QuestionFacts,
  readQuestionFacts,
  withoutArguments,
} from '../../src/domain/arguments/question-facts.ts'
import { sizeOf } from '../../src/domain/doors/cards/fitted-lists.ts'
import { MAX_OFFERS } from '../../src/domain/kit/found-operation.ts'
import {
  type ParameterProblem,
  parseSearchParameters,
} from '../../src/domain/search/search-parameters.ts'
import { OPERATIONS_ENDPOINT, type SearchQuery } from '../../src/domain/search/search-query.ts'
import { MIN_FITTING } from '../../src/domain/search/search-rank.ts'
import type { OperationsAnswer } from '../../src/domain/search/search-response.ts'
import { SELLER_TEXTS } from '../../src/domain/wire/seller-texts.ts'
import { readId } from '../../src/search/index/index-rows.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import type { RankedRow, RankedRows } from '../../src/search/query/rank-rows.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import type { Suggestion } from '../../src/search/query/suggest-filters.ts'
import { toBytes } from '../http/to-bytes.ts'
import { type Clock, systemClock } from '../ports/clock.ts'
import { findAskedEffect, putFittingFirst } from './asked-effect.ts'
import { putCallableFirst, readStored } from './callable-first.ts'
import { putNamedFirst, spread } from './order-operations.ts'
import { HEADERS, type Search } from './search.ts'

/** Rows that are looked at to fill the first places with those of several listings. */
const LOOKED_AT = 100
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
    const asked = {
      ...query,
      ...(query.q !== undefined && { q: withoutArguments(query.q) }),
      offset: 0,
      limit: Math.max(LOOKED_AT, end),
    }
    const { organic, notes, suggested } = searchIndex(index, asked)
    const [meant] = suggested.filter(({ parameters }) => parameters.q !== undefined)
    const fitting =
      meant === undefined ? [] : closeRows(index, { ...asked, ...meant.parameters }, organic)
    const facts = query.q === undefined ? null : readQuestionFacts(query.q, clock.now())
    // `tweets about formula 1` asks for what is there: nothing is to be changed.
    const effect = findAskedEffect(index, query.q ?? '') ?? (facts?.subject ? 'read' : null)
    const ordered = [fitting, organic.rows].flatMap((rows) => putFittingFirst(index, rows, effect))
    const once = new Map(ordered.map((row) => [row.row, row]))
    const found = [...once.values()].map((row) => ({ ...row, listing: listingOf(index, row.row) }))
    const nameOf = (row: number) => readStored(index, row).operation.name ?? ''
    const named = { q: query.q ?? '', rows: found, end, effect, nameOf }
    const inOrder = putNamedFirst(index, named)
    const callable = { effect, facts, fitting: fitting.length }
    const rows = spread(putCallableFirst(index, inOrder, callable))
    const others = suggested.filter(({ parameters }) => parameters.sort === undefined)
    return fitAnswer({
      total: organic.total,
      results: rows.slice(query.offset, end).map((row) => readResult(index, row, query, facts)),
      notes: [
        ...(meant !== undefined && fitting.length === 0 ? [NONE_FITTING] : []),
        ...notes,
        ...(fitting.length > 0 ? [FITTING] : []),
      ],
      ...(others.length > 0 && { suggested: others.map(toWire) }),
      texts: SELLER_TEXTS,
    })
  }
}

/** What a narrower search finds that is at least half as relevant as the best without it. */
function closeRows(index: SearchIndex, query: SearchQuery, { rows: [best] }: RankedRows) {
  const { rows } = searchIndex(index, query).organic
  return rows.filter(
    ({ relevance }) => best !== undefined && relevance >= best.relevance * MIN_FITTING,
  )
}

/** What is undefined was not asked for. */
function toWire({ parameters, total }: Suggestion) {
  return { parameters: JSON.parse(JSON.stringify(parameters)), total }
}

function listingOf(index: SearchIndex, row: number): string {
  return readId(index, 'organic', row).split('~', 1)[0] ?? ''
}

type Result = OperationsAnswer['results'][number]

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
  return ['relay_url', ...(isSaidTwice ? [shown] : []), 'output', 'description']
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
