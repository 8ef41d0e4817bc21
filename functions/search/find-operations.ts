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
import { toBytes } from '../http/to-bytes.ts'
import { HEADERS, type Search } from './search.ts'

const DEFAULT_LIMIT = 5
const MAX_LIMIT = 20
/** Of one listing at most so many stand among so many first places; the others follow. */
const FIRST_PLACES = 5
const OF_ONE_LISTING = 2
/** Rows that are looked at to fill the first places with those of several listings. */
const LOOKED_AT = 100
/** Of an operation behind the first: three results stay within a kilobyte and a half. */
const MOST_BYTES = 160
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
    const rows = spread(index, [...once.values()])
    const others = suggested.filter(({ parameters }) => parameters.sort === undefined)
    return {
      total: organic.total,
      results: rows
        .slice(query.offset, end)
        .map((row, at) => readResult(index, row, query.offset + at === 0)),
      notes: [
        ...notes,
        ...(meant === undefined ? [] : [fitting.length > 0 ? FITTING : NONE_FITTING]),
      ],
      ...(others.length > 0 && { suggested: others.map(toWire) }),
    }
  }
}

/** What a narrower search finds that is at least half as relevant as the best without it. */
function closeRows(
  index: SearchIndex,
  query: SearchQuery,
  { rows: [best] }: RankedRows,
): RankedRow[] {
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

/** The rows in their order, but that no listing fills the first places alone. */
function spread(index: SearchIndex, rows: readonly RankedRow[]): RankedRow[] {
  const counts = new Map<string, number>()
  const [first, later]: [RankedRow[], RankedRow[]] = [[], []]
  for (const row of rows) {
    const [listing = ''] = readId(index, 'organic', row.row).split('~')
    const count = (counts.get(listing) ?? 0) + 1
    counts.set(listing, count)
    const isFirst = first.length < FIRST_PLACES && count <= OF_ONE_LISTING
    if (isFirst) first.push(row)
    else later.push(row)
  }
  return [...first, ...later]
}

/** An agent pays for each byte and calls the first result: the kits of the others have their long parts. */
function readResult(index: SearchIndex, { row, relevance }: RankedRow, isFirst: boolean) {
  const body = readBody(index, 'organic', row)
  // Typed `any` by `JSON.parse`: the build wrote these bytes.
  const { listing, digest, operation } = JSON.parse(new TextDecoder().decode(body))
  for (const member of ['example', 'offers'])
    if (!isFirst && JSON.stringify(operation).length > MOST_BYTES) delete operation[member]
  // Two digits tell rows apart.
  return { listing, operation, digest, relevance: Math.round(relevance * 100) / 100 }
}

/** `GET /api/v1/operations` as a search that is mounted like the other. */
export function createOperationsSearch(find: FindOperations): Search {
  return (rawQuery) => {
    const answer = find(rawQuery)
    if ('problems' in answer) return { status: 400, problems: answer.problems }
    return { status: 200, headers: HEADERS, body: toBytes(JSON.stringify(answer)) }
  }
}
