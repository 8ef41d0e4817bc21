import { readQuestionFacts } from '../../src/domain/arguments/question-facts.ts'
import { MAX_OFFERS } from '../../src/domain/kit/found-operations.ts'
import { BYTES_A_CALL, fitCalls, sizeOf } from '../../src/domain/search/fitted-lists.ts'
import {
  OPERATIONS_ENDPOINT,
  type ParameterProblem,
  parseSearchParameters,
  type SearchQuery,
} from '../../src/domain/search/search-parameters.ts'
import type { OperationsAnswer } from '../../src/domain/search/search-response.ts'
import { SELLER_TEXTS } from '../../src/domain/wire/shapes.ts'
import { cutText } from '../../src/domain/wire/text.ts'
import type { SearchIndex } from '../../src/search/index/index-file.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'
import {
  countUnknownEffects,
  rankIndex,
  type Suggestion,
  searchIndex,
} from '../../src/search/query/search-index.ts'
import { toBytes } from '../http/answers.ts'
import { type Clock, systemClock } from '../ports/clock.ts'
import { createRowReader, orderOperations, type ReadRow } from './order-operations.ts'
import { HEADERS, type Search } from './search.ts'

/** Rows considered for filling the first places with several listings. */
const LOOKED_AT = 100

/** @returns what was found, or what is wrong with the parameters; `rawQuery` is the text behind `?` */
export type FindOperations = (
  rawQuery: string,
) => OperationsAnswer | { problems: readonly ParameterProblem[] }

/** Finds operations, tools and skills with the search's own engine and formula. */
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
    const requested = {
      ...query,
      offset: 0,
      limit: Math.max(LOOKED_AT, end),
    }
    const { organic, notes, suggested, task } = searchIndex(index, requested)
    const facts = query.q === undefined ? null : readQuestionFacts(query.q, clock.now())
    const read = createRowReader(index, facts)
    const rows = orderOperations(index, {
      ...{ q: query.q ?? '', end, task, facts, read },
      lists: [organic.rows, findDoing(index, requested, task)],
    })
    const others = suggested.filter(({ parameters }) => parameters.sort === undefined)
    return fitAnswer({
      total: organic.total,
      results: rows.slice(query.offset, end).map((row) => toResult(row, query, read)),
      notes: [...notes, ...effectNotes(index, query)],
      ...(others.length > 0 && { suggested: others.map(toWire) }),
      texts: SELLER_TEXTS,
    })
  }
}

/** What does a task: by the words of the question or, where no such row has one, by trust. */
function findDoing(
  index: SearchIndex,
  requested: SearchQuery,
  task: string | null,
): readonly RankedRow[] {
  if (task === null) return []
  const { rows } = rankIndex(index, { ...requested, task })
  return rows.length > 0 ? rows : rankIndex(index, { ...requested, task, q: undefined }).rows
}

/** What `effect=` leaves out although it may do what was asked. */
function effectNotes(index: SearchIndex, query: SearchQuery): string[] {
  if (query.effect === undefined) return []
  const count = countUnknownEffects(index, query)
  if (count === 0) return []
  const left = count === 1 ? '1 more match' : `${count} more matches`
  return [`effect=${query.effect} leaves out ${left} of which nobody says what a call changes.`]
}

/** Parameters to add to the given ones. */
function toWire({ parameters: { q: _, ...parameters }, total }: Suggestion) {
  // Undefined means not requested.
  return { parameters: JSON.parse(JSON.stringify(parameters)), total }
}

type Result = OperationsAnswer['results'][number]

function toResult({ row, relevance }: RankedRow, query: SearchQuery, read: ReadRow): Result {
  const { listing, operation, digest, filled } = read(row)
  const { offers, ...others } = operation
  const passing = offers
    ?.filter((offer) => isRequested(offer, operation, query))
    .slice(0, MAX_OFFERS)
  const example = filled()
  return {
    listing,
    operation: {
      ...others,
      ...(passing !== undefined && { offers: passing }),
      ...(example !== undefined && { example }),
    },
    digest,
    // Two digits are enough to order rows.
    relevance: Math.round(relevance * 100) / 100,
  }
}

/** Whether an offer passes the filters that its operation passed. */
function isRequested(
  { rail, network, min_usd }: NonNullable<Result['operation']['offers']>[number],
  { price }: Result['operation'],
  requested: SearchQuery,
): boolean {
  const usd = min_usd ?? price?.min_usd ?? 0
  return (
    (requested.rail === undefined || requested.rail === rail) &&
    (requested.network === undefined || requested.network === network) &&
    (requested.max_price_usd === undefined || usd <= requested.max_price_usd)
  )
}

/**
 * An agent pays for each byte: a row keeps everything its call needs. An example also shows
 * required values: one of the two is enough, the shorter one for rows after the first. Suggestions
 * are in the notes as well.
 */
function fitAnswer({ suggested, ...answer }: OperationsAnswer): OperationsAnswer {
  const fitInto = (others: Omit<OperationsAnswer, 'results'>) => ({
    ...others,
    results: fitCalls(answer.results, sizeOf({ ...others, results: [] }), toShorter),
  })
  const isWithin = (fitted: OperationsAnswer, bytes: number) =>
    sizeOf(fitted) <= bytes * answer.results.length
  const whole = suggested === undefined ? answer : { ...answer, suggested }
  const fitted = fitInto(whole)
  if (isWithin(fitted, BYTES_A_CALL)) return fitted
  const least = suggested === undefined ? fitted : fitInto(answer)
  return isWithin(least, MOST_BYTES_A_CALL) ? least : withoutOffers(least)
}

/** Beyond this an answer also leaves out the ways to pay, which the seller's own terms repeat. */
const MOST_BYTES_A_CALL = 600

function withoutOffers(answer: OperationsAnswer): OperationsAnswer {
  return { ...answer, results: answer.results.map(without('offers')) }
}

type Shorten = (result: Result) => Result

/** What a row can omit, the least needed first. Whose it is and what it costs, it always says. */
function toShorter({ operation: { example, input, url } }: Result, at: number): Shorten[] {
  const isStatedTwice = example !== undefined && input !== undefined
  const shown = at === 0 || sizeOf(example) <= sizeOf(input) ? 'input' : 'example'
  const isExampleKept = example !== undefined && (!isStatedTwice || shown === 'input')
  const isInExample = url !== undefined && example?.url?.startsWith(`${url}?`) === true
  return [
    without('relay_url'),
    without('output'),
    without('effect'),
    ...(isStatedTwice ? [without(shown)] : []),
    ...(isExampleKept && isInExample && at > 0 ? [without('url')] : []),
    withShortDescription,
    without('description'),
  ]
}

/** Characters of a description in an answer that is full. */
const SHORT_DESCRIPTION = 40

function withShortDescription(result: Result): Result {
  const { description, ...operation } = result.operation
  if (description === undefined) return result
  return {
    ...result,
    operation: { ...operation, description: cutText(description, SHORT_DESCRIPTION) },
  }
}

function without(member: string): Shorten {
  return (result) => {
    const kept = Object.entries(result.operation).filter(([name]) => name !== member)
    return { ...result, operation: Object.fromEntries(kept) }
  }
}

/** `GET /api/v1/operations` as a search that is mounted like the other. */
export function createOperationsSearch(find: FindOperations): Search {
  return (rawQuery) => {
    const answer = find(rawQuery)
    if ('problems' in answer) return { status: 400, problems: answer.problems }
    return { status: 200, headers: HEADERS, body: toBytes(JSON.stringify(answer)) }
  }
}
