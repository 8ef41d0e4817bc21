import { sizeOf } from '../../src/domain/doors/cards/fitted-lists.ts'
import {
  type ParameterProblem,
  parseSearchParameters,
} from '../../src/domain/search/search-parameters.ts'
import type { SearchQuery } from '../../src/domain/search/search-query.ts'
import type { OperationsAnswer } from '../../src/domain/search/search-response.ts'
import { readBody, readId } from '../../src/search/index/index-rows.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import type { RankedRow, RankedRows } from '../../src/search/query/rank-rows.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import type { Suggestion } from '../../src/search/query/suggest-filters.ts'
import { splitText } from '../../src/search/words/split-text.ts'
import { stemWord } from '../../src/search/words/stem-word.ts'
import { toBytes } from '../http/to-bytes.ts'
import { HEADERS, type Search } from './search.ts'

const DEFAULT_LIMIT = 5
const MAX_LIMIT = 20
/** Of one listing at most so many stand among so many first places; the others follow. */
const FIRST_PLACES = 5
const OF_ONE_LISTING = 2
/** Rows that are looked at to fill the first places with those of several listings. */
const LOOKED_AT = 100
/** Rows of one listing that are looked at for the one whose name was asked for. */
const COMPARED = 8
/** Three results stay within a kilobyte and a half. */
const BYTES_A_ROW = 500
/** Members of an operation that a row behind the first does without where there is no room. */
const LONG = ['example', 'offers', 'relay_url', 'bring']
const FITTING = 'Results that pass this filter come first.'
const NONE_FITTING = 'No good match passes this filter, so other results come first.'
/** What a search of listings takes and this one does not. */
const NOT_TAKEN = new Set(['view', 'explain', 'facets', 'sort'])

/** @returns what was found, or what is wrong with the parameters; `rawQuery` is the text behind `?` */
export type FindOperations = (
  rawQuery: string,
) => OperationsAnswer | { problems: readonly ParameterProblem[] }

/** Finds operations, tools and skills by the search's own engine and formula. */
export function createFindOperations({
  release,
}: {
  release: () => { operations: SearchIndex }
}): FindOperations {
  return (rawQuery) => {
    const index = release().operations
    const parsed = parseSearchParameters(rawQuery, index.filters)
    if ('problems' in parsed) return parsed
    const problems = problemsOf(rawQuery)
    if (problems.length > 0) return { problems }
    const { query } = parsed
    const limit = /(?:^|&)limit=/.test(rawQuery) ? query.limit : DEFAULT_LIMIT
    const end = query.offset + limit
    const asked = { ...query, offset: 0, limit: Math.max(LOOKED_AT, end) }
    const { organic, notes, suggested } = searchIndex(index, asked)
    const [meant] = suggested.filter(({ parameters }) => parameters.q !== undefined)
    const fitting =
      meant === undefined ? [] : closeRows(index, { ...asked, ...meant.parameters }, organic)
    const once = new Map([...fitting, ...organic.rows].map((row) => [row.row, row]))
    const found = [...once.values()].map((row) => ({ ...row, listing: listingOf(index, row.row) }))
    const rows = spread(putNamedFirst(index, query.q ?? '', found, end))
    const others = suggested.filter(({ parameters }) => parameters.sort === undefined)
    return fitAnswer({
      total: organic.total,
      results: rows.slice(query.offset, end).map((row) => readResult(index, row)),
      notes: [
        ...notes,
        ...(meant === undefined ? [] : [fitting.length > 0 ? FITTING : NONE_FITTING]),
      ],
      ...(others.length > 0 && { suggested: others.map(toWire) }),
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

function problemsOf(rawQuery: string): ParameterProblem[] {
  return [...new URLSearchParams(rawQuery)].flatMap(([name, text]): ParameterProblem[] => {
    if (NOT_TAKEN.has(name))
      return [{ in: 'query', name, detail: 'operations are found without it' }]
    const detail = `got "${text}", expected a whole number from 1 to ${MAX_LIMIT}`
    return name === 'limit' && Number(text) > MAX_LIMIT ? [{ in: 'query', name, detail }] : []
  })
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

function readStored(index: SearchIndex, row: number): Omit<Result, 'relevance'> {
  // Typed `any` by `JSON.parse`: the build wrote these bytes.
  const stored = JSON.parse(new TextDecoder().decode(readBody(index, 'organic', row)))
  const { listing, digest, operation } = stored
  return { listing, operation, digest }
}

function readResult(index: SearchIndex, { row, relevance }: RankedRow) {
  // Two digits tell rows apart.
  return { ...readStored(index, row), relevance: Math.round(relevance * 100) / 100 }
}

/** An agent pays for each byte: the first result is told whole, others as far as there is room. */
function fitAnswer(answer: OperationsAnswer): OperationsAnswer {
  const roomFor = (results: Result[]) =>
    BYTES_A_ROW * results.length - sizeOf({ ...answer, results })
  const toBrief = (members: readonly string[], ofFirst: readonly string[] = []) =>
    answer.results.map((result, at) => without(result, at === 0 ? ofFirst : members))
  // An example shows what must be given, too.
  const ofFirst = answer.results[0]?.operation.example === undefined ? [] : ['input']
  const brief =
    [toBrief(LONG), toBrief(LONG, ofFirst)].find((results) => roomFor(results) >= 0) ??
    toBrief([...LONG, 'description'], ofFirst)
  let room = roomFor(brief)
  const results = brief.map((result, at) => {
    const whole = at === 0 ? result : (answer.results[at] ?? result)
    const more = sizeOf(whole) - sizeOf(result)
    if (more > room) return result
    room -= more
    return whole
  })
  return { ...answer, results }
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
