import {
  type ArgumentSlot,
  countStated,
  fillArguments,
  type ShownExample,
} from '../../src/domain/arguments/fill-arguments.ts'
import { type QuestionFacts, readQuestionFacts } from '../../src/domain/arguments/question-facts.ts'
import { MAX_OFFERS } from '../../src/domain/kit/found-operations.ts'
import { BYTES_A_CALL, fitCalls, sizeOf } from '../../src/domain/search/fitted-lists.ts'
import {
  OPERATIONS_ENDPOINT,
  type ParameterProblem,
  parseSearchParameters,
  type SearchQuery,
} from '../../src/domain/search/search-parameters.ts'
import type { OperationsAnswer } from '../../src/domain/search/search-response.ts'
import { largestOf } from '../../src/domain/wire/json.ts'
import { SELLER_TEXTS } from '../../src/domain/wire/shapes.ts'
import { cutText } from '../../src/domain/wire/text.ts'
import { EFFECTS, type Effect } from '../../src/domain/wire/vocabulary.ts'
import { readBody, readId, type SearchIndex } from '../../src/search/index/index-file.ts'
import { bitsFor, passes } from '../../src/search/query/filter-rows.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'
import {
  countUnknownEffects,
  rankIndex,
  type Suggestion,
  searchIndex,
} from '../../src/search/query/search-index.ts'
import { splitText, stemWord } from '../../src/search/words/split-text.ts'
import { findPhrases } from '../../src/search/words/word-sets.ts'
import { toBytes } from '../http/answers.ts'
import { type Clock, systemClock } from '../ports/clock.ts'
import { HEADERS, type Search } from './search.ts'

/** How many rows are considered when the first places are shared among several listings. */
const LOOKED_AT = 100

/**
 * @param rawQuery the text after `?`
 * @returns what was found, or what is wrong with the parameters
 */
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
    const facts = query.q === undefined ? null : readQuestionFacts(query.q, clock.now())
    const { organic, notes, suggested, rows, read } = rankOperations(index, query, facts)
    const end = query.offset + query.limit
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

/**
 * The matches, with their rows in display order.
 * @param facts values in the question that can fill a call; null if no call is shown
 */
export function rankOperations(
  index: SearchIndex,
  query: SearchQuery,
  facts: QuestionFacts | null = null,
) {
  const end = query.offset + query.limit
  const requested = { ...query, offset: 0, limit: Math.max(LOOKED_AT, end) }
  const outcome = searchIndex(index, requested)
  const { organic, task } = outcome
  const read = createRowReader(index, facts)
  const rows = orderOperations(index, {
    ...{ q: query.q ?? '', end, task, facts, read },
    lists: [organic.rows, findDoing(index, requested, task)],
  })
  return { ...outcome, rows, read }
}

/** Rows that do a task, ranked by the question's words or, if none matches, by trust. */
function findDoing(
  index: SearchIndex,
  requested: SearchQuery,
  task: string | null,
): readonly RankedRow[] {
  if (task === null) return []
  const { rows } = rankIndex(index, { ...requested, task })
  return rows.length > 0 ? rows : rankIndex(index, { ...requested, task, q: undefined }).rows
}

/** Adds a note saying how many rows `effect=` leaves out although they may match the question. */
function effectNotes(index: SearchIndex, query: SearchQuery): string[] {
  if (query.effect === undefined) return []
  const count = countUnknownEffects(index, query)
  if (count === 0) return []
  const left = count === 1 ? '1 more match' : `${count} more matches`
  return [
    `effect=${query.effect} leaves out ${left}, because it is not known what their calls change.`,
  ]
}

/** The suggested parameters, to be added to the given ones. */
function toWire({ parameters: { q: _, ...parameters }, total }: Suggestion) {
  // Drops parameters that are undefined, because they were not requested.
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
 * Shortens a full answer, because an agent pays for each byte; a row keeps everything that its call
 * needs. Example and input both show required values, so one of them is enough: in rows after the
 * first, whichever is shorter. Suggestions are in the notes as well.
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

/** Above this size, rows also lose their offers, because the seller's own terms repeat them. */
const MOST_BYTES_A_CALL = 600

function withoutOffers(answer: OperationsAnswer): OperationsAnswer {
  return { ...answer, results: answer.results.map(without('offers')) }
}

type Shorten = (result: Result) => Result

/** What a row can lose, least needed first. Listing and price always stay. */
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

/** Most characters in a description if an answer is too long. */
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

/** `GET /api/v1/operations` as a search, mounted like the listing search. */
export function createOperationsSearch(find: FindOperations): Search {
  return (rawQuery) => {
    const answer = find(rawQuery)
    if ('problems' in answer) return { status: 400, problems: answer.problems }
    return { status: 200, headers: HEADERS, body: toBytes(JSON.stringify(answer)) }
  }
}

interface Ordering {
  q: string
  /** Two lists: all rows that were found, and all rows that do the task. */
  lists: readonly (readonly RankedRow[])[]
  end: number
  task: string | null
  facts: QuestionFacts | null
  read: ReadRow
}

/**
 * The found rows, each once, in display order: by the question's verb, by its task, and by the
 * values that a call takes from the question. `relevance` stays as the formula gave it.
 */
function orderOperations(index: SearchIndex, { q, lists, end, task, facts, read }: Ordering) {
  const effect = findRequestedEffect(index, q)
  const ordered = lists.flatMap((rows) => putFittingFirst(index, rows, effect))
  const once = new Map(ordered.map((row) => [row.row, row]))
  const found = [...once.values()].map((row) => ({ ...row, listing: listingOf(index, row.row) }))
  const named = putNamedFirst(index, { q, rows: found, end, effect, read })
  const { rows, count } = putTaskFirst(index, named, task)
  return spread(putCallableFirst(index, rows, { effect, facts, doing: count, read }))
}

function listingOf(index: SearchIndex, row: number): string {
  return readId(index, row).split('~', 1)[0] ?? ''
}

/** After one of these, a word is a noun: `a post`, `the order`. */
const ARTICLES = new Set('a an the my our your his her their this that these those some'.split(' '))

/** The effect that a query wants, by its first verb that implies one; null without such a verb. */
function findRequestedEffect({ words }: SearchIndex, q: string): Effect | null {
  const stated = splitText(q)
  // `pay` in `pay with MPP` is part of a filter, not a verb.
  const phrases = findPhrases(stated, words.phrases)
  let weak: Effect | null = null
  for (const [at, word] of stated.entries()) {
    if (phrases.has(word) || ARTICLES.has(stated[at - 1]?.whole ?? '')) continue
    const effect = words.effectOf(word.whole)
    if (words.isWeakVerb(word.whole)) weak ??= 'read'
    else if (effect !== null) return effect
  }
  return weak
}

/** Rows with the requested effect come first if they have at least this share of the best relevance. */
const MIN_FITTING = 0.5

/**
 * Puts rows with the requested effect first, if they are at least half as relevant as the best
 * match: a query to read a tweet must not get the tool that posts one. A row with an unknown
 * effect, such as a whole server, keeps its place.
 */
function putFittingFirst<Row extends RankedRow>(
  index: SearchIndex,
  rows: readonly Row[],
  requested: Effect | null,
): Row[] {
  const [best] = rows
  if (requested === null || best === undefined) return [...rows]
  const isFirst = ({ row, relevance }: Row) =>
    relevance >= best.relevance * MIN_FITTING && doesRequested(index, row, requested)
  return [...rows.filter(isFirst), ...rows.filter((row) => !isFirst(row))]
}

/**
 * False for a row known to have an effect other than the requested one; an unknown effect passes. Tools state
 * that they write, but have no way to state that they spend.
 */
function doesRequested(index: SearchIndex, row: number, requested: Effect | null): boolean {
  if (requested === null) return true
  const fitting: readonly Effect[] = requested === 'pay' ? ['pay', 'write'] : [requested]
  const others = EFFECTS.filter((effect) => !fitting.includes(effect))
  return !others.some((effect) => passes(bitsFor(index, `effect:${effect}`), row))
}

/** The first `FIRST_PLACES` rows contain at most `OF_ONE_LISTING` rows of one listing; the rest follow. */
const FIRST_PLACES = 5
const OF_ONE_LISTING = 2
/** How many of a listing's rows are compared to find the one whose name is in the query. */
const COMPARED = 8

/** The parts of the search that determine the order. */
interface Requested {
  q: string
  rows: readonly FoundRow[]
  /** How many rows are shown. */
  end: number
  effect: Effect | null
  read: ReadRow
}

/**
 * Among a listing's rows of similar relevance, the row whose name has the most words of the query, and no
 * other words, swaps places with the best row. So querying a database finds `execute_sql` rather than
 * `explain_query`, and creating an event finds `create_event` rather than `get_event`.
 */
function putNamedFirst(index: SearchIndex, { q, rows, end, effect, read }: Requested) {
  const requested = new Set(wordsOf(q).map(stemWord))
  const countStated = (row: number) => {
    const { name = '' } = read(row).operation
    const words = wordsOf(name).filter((word) => !index.words.stop.has(word))
    return words.every((word) => requested.has(stemWord(word))) ? words.length : 0
  }
  const ordered = [...rows]
  const byListing = Map.groupBy(rows, ({ listing }) => listing)
  for (const own of [...byListing.values()].slice(0, Math.min(FIRST_PLACES, end))) {
    const [best] = own
    if (best === undefined) continue
    const close = own
      .slice(0, COMPARED)
      .filter(({ relevance }) => relevance >= best.relevance * MIN_FITTING)
      .filter(({ row }) => doesRequested(index, row, effect))
    // Reading names costs as much as the search, so names are read only if there is a choice.
    if (close.length < 2 || !close.includes(best)) continue
    const [named] = close
      .map((row) => ({ row, stated: countStated(row.row) }))
      .sort((a, b) => b.stated - a.stated)
    if (named === undefined || named.stated === 0) continue
    ordered[rows.indexOf(named.row)] = best
    ordered[rows.indexOf(best)] = named.row
  }
  return ordered
}

function wordsOf(text: string): string[] {
  return splitText(text).flatMap(({ whole, parts }) => (parts.length > 0 ? parts : [whole]))
}

/**
 * Puts rows that do the question's task first: for `address to coordinates`, operations that
 * geocode come before operations that find an address. `count` is how many rows do the task.
 */
function putTaskFirst(
  index: SearchIndex,
  rows: readonly FoundRow[],
  task: string | null,
): { rows: readonly FoundRow[]; count: number } {
  const bits = bitsFor(index, `task:${task}`)
  const doing = rows.filter(({ row }) => passes(bits, row))
  const others = rows.filter(({ row }) => !passes(bits, row))
  return { rows: [...doing, ...others], count: doing.length }
}

/** The rows in their order, except that no listing alone fills the first places. */
function spread(rows: readonly FoundRow[]): FoundRow[] {
  const counts = new Map<string, number>()
  const [first, later]: [FoundRow[], FoundRow[]] = [[], []]
  for (const row of rows) {
    const count = (counts.get(row.listing) ?? 0) + 1
    counts.set(row.listing, count)
    if (first.length < FIRST_PLACES && count <= OF_ONE_LISTING) first.push(row)
    else later.push(row)
  }
  return [...first, ...later]
}

/** How many rows are read to see what their calls take: reading one costs as much as ranking hundreds. */
const READ = 24

/**
 * Among rows of similar relevance, calls that take values from the query come first, and among these,
 * calls that need nothing more: for a query that names a city, a call with the city filled in comes
 * before a call that needs a key, and before a call that takes no place.
 */
function putCallableFirst(
  index: SearchIndex,
  rows: readonly FoundRow[],
  { effect, facts, doing, read }: Wanted,
): FoundRow[] {
  if (facts === null || !saysArguments(facts)) return [...rows]
  const head = rows.slice(0, doing > 0 ? doing : rows.length)
  const most = largestOf(head.map(({ relevance }) => relevance))
  const close = head
    .filter(
      ({ row, relevance }) => relevance >= most * MIN_FITTING && doesRequested(index, row, effect),
    )
    .slice(0, READ)
  const ranks = new Map(close.map((row) => [row, toRank(read(row.row), facts)]))
  const ordered = close.toSorted((a, b) => (ranks.get(b) ?? 0) - (ranks.get(a) ?? 0))
  return [...ordered, ...rows.filter((row) => !ranks.has(row))]
}

/** Whether a query contains arguments for a call, in addition to naming the call. */
function saysArguments(facts: QuestionFacts): boolean {
  const { urls, emails, domains, ips, evmAddresses, transactions, places, coins } = facts
  const { currencies, tickers, countries, languages, quoted, subject } = facts
  const lists = [urls, emails, domains, ips, evmAddresses, transactions, places, coins]
  return (
    [...lists, currencies, tickers, countries].some((list) => list.length > 0) ||
    [languages.to, quoted, subject].some((stated) => stated != null)
  )
}

interface Wanted {
  effect: Effect | null
  facts: QuestionFacts | null
  /** How many rows stay first because they do the task; 0 if none is known to do it. */
  doing: number
  read: ReadRow
}

/** How many of the query's values a row takes; a row that can be called as shown comes first. */
function toRank({ operation, slots, filled }: Stored, facts: QuestionFacts): number {
  const { example, url = '', bring } = operation
  const stated = example === undefined ? 0 : countStated(url, example, slots, facts)
  if (stated === 0) return 0
  const isComplete = bring === undefined && !/<[A-Z0-9_]+>/.test(JSON.stringify(filled()))
  return isComplete ? stated + CALLABLE : stated
}

/** Rank of a row that can be called as shown: higher than any number of values in a query. */
const CALLABLE = 100

/** A row and its listing. */
interface FoundRow extends RankedRow {
  listing: string
}

/** A row as stored in the index. */
type Stored = Omit<OperationsAnswer['results'][number], 'relevance'> & {
  /** The example's slots that can be filled from the query. */
  slots: readonly ArgumentSlot[]
  /** The example with values from the query in place of the example's own. */
  filled: () => ShownExample | undefined
}
type ReadRow = (row: number) => Stored

/** Reads rows for one query, each only once. */
export function createRowReader(index: SearchIndex, facts: QuestionFacts | null): ReadRow {
  const known = new Map<number, Stored>()
  return (row) => {
    const read = known.get(row) ?? readStored(index, row, facts)
    known.set(row, read)
    return read
  }
}

function readStored(index: SearchIndex, row: number, facts: QuestionFacts | null): Stored {
  // Not checked: the build wrote these bytes.
  const stored = JSON.parse(decoder.decode(readBody(index, row)))
  const { listing, digest, operation, slots = [] }: Omit<Stored, 'filled'> = stored
  const { example, url = '' } = operation
  let shown = example
  let isFilled = example === undefined || facts === null || slots.length === 0
  const filled = () => {
    if (!isFilled && shown !== undefined && facts !== null)
      shown = fillArguments(url, shown, slots, facts)
    isFilled = true
    // A call without any arguments needs no example.
    return shown !== undefined && Object.keys(shown).length > 0 ? shown : undefined
  }
  return { listing, operation, digest, slots, filled }
}

const decoder = new TextDecoder()
