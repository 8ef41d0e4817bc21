import { toAsciiAddress } from '../../domain/listing/target-url.ts'
import { MAX_TRUST } from '../../domain/search/search-filters.ts'
import {
  inverseDocumentFrequency,
  LIVE_TESTED_FACTOR,
  RELEVANCE_STEPS,
  SEARCH_FIELDS,
  type SearchField,
  trustFactor,
} from '../../domain/search/search-rank.ts'
import type { Explanation } from '../../domain/search/search-response.ts'
import { largestOf } from '../../domain/wire/json.ts'
import type { SearchSort, Warning } from '../../domain/wire/vocabulary.ts'
import {
  type CodedColumn,
  isLiveTested,
  multiplierOf,
  NO_TRUST,
  trustOf,
} from '../index/columns.ts'
import { EXACT_KINDS, type ExactKind, findExact } from '../index/exact-table.ts'
import type { IndexData, KnownTerm, RowRange, SearchIndex } from '../index/index-file.ts'
import { firstPlace, type RangeName, readPostings } from '../index/terms.ts'
import {
  allRows,
  bitsFor,
  bitsOf,
  filterRows,
  passes,
  setBit,
  toParameters,
  toRowFilter,
} from './filter-rows.ts'
import { rowsNamed } from './known-terms.ts'
import type { PlanTerm, QueryPlan } from './plan-query.ts'

export interface RankedRow {
  row: number
  relevance: number
}

/** A range's first rows, and how many rows in it match. */
export interface RankedRows {
  total: number
  rows: readonly RankedRow[]
}

interface RankRequest {
  text: string
  plan: QueryPlan
  /** The rows that pass the filters; null for all rows. */
  bits: Uint32Array | null
  sort: SearchSort
  /** How many rows are wanted. */
  most: number
}

/** Scores a range's rows for a plan and returns the first: exact rows of each kind, then all others. */
export function rankRows(index: SearchIndex, range: RowRange, request: RankRequest): RankedRows {
  const { text, plan, sort, most } = request
  const bits = keepWanted(index, range.name, { excluded: plan.excluded, bits: request.bits })
  const forEachRow: ForEachRow = (tell) => scoreRows(index, range.name, plan.terms, tell)
  if (sort !== 'relevance') return rankSorted(index, forEachRow, { ...request, bits })
  const exact = exactRows(index, range, { text, bits })
  const { span, toKey, toRow } = createKeys(index)
  // An exact row may have no term: an id or a host is not text.
  const known = new Map(exact.flatMap(({ rows }) => rows.map((row) => [row, toKey(row, 0)])))
  const best = createTopKeys(Math.min(Math.max(most, FIRST_ROWS), range.end - range.start))
  const doing = taskBits(index, plan)
  const done: number[] = []
  let total = known.size
  /** The score, before multiplication, that a row needs to get on the page. */
  let minScore = Number.NEGATIVE_INFINITY
  forEachRow((row, score) => {
    if (!passes(bits, row)) return
    if (known.size > 0 && known.has(row)) {
      known.set(row, toKey(row, score))
      return
    }
    total += 1
    if (doing !== null && passes(doing, row)) done.push(toKey(row, score))
    if (score < minScore) return
    const threshold = best.offer(toKey(row, score))
    // Leaves one step of slack for rounding.
    minScore = (threshold / span - 2) / RELEVANCE_STEPS / index.highestMultiplier
  })
  const first = exact.flatMap(({ rows }) =>
    rows.map((row) => known.get(row) ?? 0).sort((a, b) => b - a),
  )
  const leading = putDoingFirst(index, range.name, { plan, best: best.take(), done })
  const others = putUsableFirst(index, leading, text)
  return { total, rows: [...first, ...others].slice(0, most).map(toRow) }
}

/** The listings that do the task named in the query; null if the query names none, and for operations. */
function taskBits(index: SearchIndex, { task }: Pick<QueryPlan, 'task'>): Uint32Array | null {
  return task === null || index.noun !== 'listing' ? null : bitsFor(index, `task:${task}`)
}

interface Doing {
  plan: QueryPlan
  /** The most relevant rows, best first. */
  best: Float64Array
  /** The rows that do the task. */
  done: readonly number[]
}

/**
 * Puts rows that do the task first, if they are at least half as relevant as the best row. More relevant rows
 * stay before them if they have all words of a question that says more than its task: for a wallet's balance
 * on Solana, this is the only service that reads Solana. Among rows that do it, or else among all that are as
 * relevant, those that meet the question's wishes come first.
 */
function putDoingFirst(
  index: SearchIndex,
  range: RangeName,
  { plan, best, done }: Doing,
): number[] {
  const { span, rowOf } = createKeys(index)
  const half = Math.floor((best[0] ?? 0) / span) / 2
  const isNear = (key: number) => Math.floor(key / span) >= half
  const wished = wishedBits(index, plan)
  const putWishedFirst = (keys: readonly number[]) => [
    ...keys.filter((key) => passes(wished, rowOf(key))),
    ...keys.filter((key) => !passes(wished, rowOf(key))),
  ]
  const doing = done.filter(isNear).sort((a, b) => b - a)
  const [top] = doing
  if (top === undefined) {
    const near = best.subarray(0, FIRST_ROWS).filter(isNear)
    return [...putWishedFirst([...near]), ...best.subarray(near.length)]
  }
  let whole = [...best.subarray(0, FIRST_ROWS)].filter((key) => key > top)
  const words = whole.length === 0 ? [] : plan.detailed()
  if (words.length === 0) whole = []
  for (const terms of words) {
    const lists = terms.map((term) => readPostings(index.terms, term, range).rows)
    whole = whole.filter((key) => lists.some((rows) => rows.includes(rowOf(key))))
  }
  const first = [...whole, ...putWishedFirst(doing)]
  const known = new Set(first)
  return [...first, ...[...best].filter((key) => !known.has(key))]
}

/**
 * The rows that meet all wishes in the question: for a `free` one, those that cost nothing; null if it has none.
 * A network is no wish, because `swap on Base` is about what the service does, and not how it is paid.
 */
function wishedBits(index: SearchIndex, { phrases }: QueryPlan): Uint32Array | null {
  const wishes = phrases.filter(({ parameter }) => parameter !== 'sort' && parameter !== 'network')
  if (index.noun !== 'listing' || wishes.length === 0) return null
  const all = Object.fromEntries(wishes.flatMap((wish) => Object.entries(toParameters(wish))))
  return filterRows(index, toRowFilter(all))
}

/** How many of the first rows are reordered: as many as the largest page has. */
const FIRST_ROWS = 50
const WANTS_KIT = /\b(?:kit|skill)s?\b/i
/** Warnings about listings that cannot be used now, or not for much longer. */
const UNUSABLE: readonly Warning[] = ['withdrawn_at_source', 'no_answer', 'deprecated']

/**
 * Puts usable services first, if they are at least half as relevant as the best row: before services that
 * don't answer, and before kits unless the query is for a kit.
 */
function putUsableFirst(index: SearchIndex, keys: number[], text: string): number[] {
  if (index.noun !== 'listing') return keys
  const behind = UNUSABLE.map((warning) => bitsFor(index, `warning:${warning}`))
  if (!WANTS_KIT.test(text)) behind.push(bitsFor(index, 'kind:kit'))
  const { span, rowOf } = createKeys(index)
  const first = keys.slice(0, FIRST_ROWS)
  const half = Math.floor(largestOf(first) / span) / 2
  const isBehind = (key: number) =>
    behind.some((bits) => passes(bits, rowOf(key))) || Math.floor(key / span) < half
  return [
    ...first.filter((key) => !isBehind(key)),
    ...first.filter(isBehind),
    ...keys.slice(FIRST_ROWS),
  ]
}

/** Reports every row that has a term, with its score. */
type ForEachRow = (tell: (row: number, score: number) => void) => void

/** Every organic row that has a term, as a bit set. */
export function matchBits(index: SearchIndex, { terms, excluded }: QueryPlan): Uint32Array {
  const bits = bitsOf(index, [])
  for (const { number } of terms)
    for (const row of readPostings(index.terms, number).rows) setBit(bits, row, true)
  return keepWanted(index, 'organic', { excluded, bits }) ?? bits
}

/** A row's relevance in whole steps, in which it is compared and printed. */
function stepsOf({ trustMarks }: IndexData, row: number, score: number): number {
  return Math.round(score * multiplierOf(trustMarks[row] ?? NO_TRUST) * RELEVANCE_STEPS)
}

/**
 * A row's rank as one number, so that a typed array can hold and sort it: the relevance in steps,
 * then the row number backwards, since a lower row wins a tie. Below 2^53 it is exact, which allows
 * scores up to 8,000 with a million rows; the best match for 32 words scores some hundreds.
 */
function createKeys(index: IndexData) {
  const span = 2 ** Math.ceil(Math.log2(Math.max(index.trustMarks.length, 2)))
  const rowOf = (key: number) => span - 1 - (key % span)
  return {
    span,
    toKey: (row: number, score: number) => stepsOf(index, row, score) * span + (span - 1 - row),
    rowOf,
    toRow: (key: number): RankedRow => ({
      row: rowOf(key),
      relevance: Math.floor(key / span) / RELEVANCE_STEPS,
    }),
  }
}

/** First the rows that are at least half as relevant as the best, then the others; equal ones by rank. */
function rankSorted(
  index: IndexData,
  forEachRow: ForEachRow,
  { bits, sort, most }: RankRequest,
): RankedRows {
  const { toKey, rowOf, toRow } = createKeys(index)
  const keys: number[] = []
  forEachRow((row, score) => {
    if (passes(bits, row)) keys.push(toKey(row, score))
  })
  const ranked = new Float64Array(keys).sort().reverse()
  const half = toRow(ranked[0] ?? 0).relevance / 2
  const near = firstPlace(0, ranked.length, (place) => toRow(ranked[place] ?? 0).relevance < half)
  const sorted = (start: number, end: number, wanted: number) => {
    const rows = ranked.subarray(start, end)
    const places = sortPlaces(index, rows.map(rowOf), { sort, start: 0, end: wanted })
    return places.map((place) => toRow(rows[place] ?? 0))
  }
  const first = sorted(0, near, most)
  const others = first.length < most ? sorted(near, ranked.length, most - first.length) : []
  return { total: keys.length, rows: [...first, ...others] }
}

/** The fewest keys kept: with fewer, sorting now and then costs less than keeping them in order. */
const LEAST_KEPT = 128

/**
 * Keeps the `size` largest of any number of keys: takes in twice as many, then drops the smaller half.
 * `offer` returns the number that the next key must exceed to be kept, `take` the largest, in order.
 */
function createTopKeys(size: number) {
  const kept = new Float64Array(2 * Math.max(size, LEAST_KEPT))
  let length = 0
  let least = Number.NEGATIVE_INFINITY
  const take = () => {
    kept.subarray(0, length).sort().reverse()
    length = Math.min(length, size)
    return kept.subarray(0, length)
  }
  return {
    offer(key: number): number {
      if (key <= least) return least
      kept[length] = key
      length += 1
      if (length === kept.length) least = take().at(-1) ?? least
      return least
    },
    take,
  }
}

/** Takes a row that has a term, and its score summed over terms. */
type TellRow = (row: number, score: number) => void

/** Each row's score, 0 between searches. All searches share these arrays, because each is synchronous. */
let scores = new Float64Array(0)
/** Rows with a score, in the order in which they got their scores. */
let matched = new Uint32Array(0)

/** Adds up the postings for every term, then reports each row with a score. */
function scoreRows(
  index: SearchIndex,
  range: RangeName,
  terms: readonly PlanTerm[],
  tell: TellRow,
): void {
  const { scoreTable } = index.terms
  if (scores.length < index.trustMarks.length) {
    scores = new Float64Array(index.trustMarks.length)
    matched = new Uint32Array(index.trustMarks.length)
  }
  let count = 0
  for (const term of terms) {
    const weight = weightIn(index, term)
    const { rows, codes } = readPostings(index.terms, term.number, range)
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at] ?? 0
      const before = scores[row] ?? 0
      scores[row] = before + weight * (scoreTable[codes[at] ?? 0] ?? 0)
      // If this row already had a score, the next row overwrites this place.
      matched[count] = row
      if (before === 0) count += 1
    }
  }
  for (let at = 0; at < count; at += 1) {
    const row = matched[at] ?? 0
    const score = scores[row] ?? 0
    scores[row] = 0
    tell(row, score)
  }
}

/** A term's weight times its idf among the organic rows. */
function weightIn({ organicRows }: SearchIndex, { weight, rows }: PlanTerm): number {
  return weight * inverseDocumentFrequency(organicRows, rows)
}

/** A query that is a pasted address. */
const ADDRESS = /^(?:https?:\/\/)?([^/?#\s]+)\/?$/i

/** Rows that come before all others, whatever their score: the query is their id, their host or one of their names. */
interface ExactRows {
  kind: ExactKind
  rows: readonly number[]
}

/** The exact rows that pass the filters, by kind, each row once; a kind without rows is absent. */
export function exactRows(
  index: SearchIndex,
  range: RowRange,
  { text, bits }: { text: string; bits: Uint32Array | null },
): ExactRows[] {
  const found: ExactRows[] = []
  const add = (kind: ExactKind, rows: Iterable<number>) => {
    const others = [...rows].filter(
      (row) => isIn(range, row) && passes(bits, row) && kindOf(found, row) === null,
    )
    if (others.length > 0) found.push({ kind, rows: others })
  }
  for (const kind of EXACT_KINDS) {
    const rows = rowsFor(index, kind, text)
    // Among a vendor's listings, those named like the vendor come first; without one, others of that name.
    if (kind === 'vendor') {
      for (const named of ['name', 'product'] as const)
        add(named, new Set(rows).intersection(new Set(rowsFor(index, named, text))))
      if (found.length === 0) add('name', rowsFor(index, 'name', text))
    }
    add(kind, rows)
  }
  return found
}

function kindOf(exact: readonly ExactRows[], row: number): ExactKind | null {
  return exact.find(({ rows }) => rows.includes(row))?.kind ?? null
}

function isIn({ start, end }: RowRange, row: number): boolean {
  return row >= start && row < end
}

function rowsFor({ exact }: SearchIndex, kind: ExactKind, text: string): Uint32Array {
  const requested = text.trim()
  if (kind === 'vendor' || kind === 'product' || kind === 'name')
    return findExact(exact, kind, requested)
  const [, host = ''] = ADDRESS.exec(toAsciiAddress(requested)) ?? []
  const name = kind === 'host' ? host : requested.toLowerCase()
  return name.includes('.') ? findExact(exact, kind, name) : new Uint32Array(0)
}

/** The positions of the first rows in the requested order; equal rows keep their order. @param rows by rank */
export function sortPlaces(
  index: IndexData,
  rows: Float64Array | Uint32Array,
  { sort, start, end }: { sort: SearchSort; start: number; end: number },
): number[] {
  const placeOf = placesFor(index, sort)
  const { length } = rows
  // Each row's place in the order and position in `rows` become one number, which is the fastest to sort.
  const places = new Float64Array(rows).map((row, at) => placeOf(row) * length + at).sort()
  return Array.from(places.subarray(start, end), (place) => place % length)
}

/** A row's place in an order, from 0. Unknown values come last. */
function placesFor(
  { minUsd, added, reportedCalls, settlements, trustMarks }: IndexData,
  sort: SearchSort,
): (row: number) => number {
  switch (sort) {
    case 'price':
      return (row) => minUsd.codes[row] ?? 0
    case 'newest':
      return fromHighest(added)
    case 'calls':
      return fromHighest(reportedCalls)
    case 'paid': {
      const [first, then] = [fromHighest(settlements), fromHighest(reportedCalls)]
      return (row) => first(row) * (reportedCalls.values.length + 1) + then(row)
    }
    case 'trust':
      return (row) => {
        const trust = trustOf(trustMarks[row] ?? NO_TRUST)
        return trust === NO_TRUST ? MAX_TRUST + 1 : MAX_TRUST - trust
      }
    case 'relevance':
      return () => 0
  }
}

function fromHighest({ codes, values }: CodedColumn): (row: number) => number {
  const known = values.length
  return (row) => {
    const code = codes[row] ?? 0
    return Number.isNaN(values[code]) ? known : known - 1 - code
  }
}

/** An explanation for each row, in row order. */
export function explainRows(
  index: SearchIndex,
  range: RowRange,
  { text, plan, rows }: { text: string; plan: QueryPlan; rows: readonly { row: number }[] },
): Explanation[] {
  const wanted = rows.map(({ row }) => row)
  const scores = explainScores(index, range, plan.terms, wanted)
  const exact = exactRows(index, range, { text, bits: null })
  const doing = taskBits(index, plan)
  return wanted.map((row) => {
    const { total, terms } = scores.get(row) ?? { total: 0, terms: [] }
    const trustMark = index.trustMarks[row] ?? NO_TRUST
    const trust = trustOf(trustMark)
    const kind = kindOf(exact, row)
    return {
      ...(kind !== null && { exact: kind }),
      ...(plan.task !== null && doing !== null && passes(doing, row) && { task: plan.task }),
      matched: terms
        .map(({ term, fields, score }) => ({
          term: term.requested,
          as: term.written,
          fields,
          score,
        }))
        .sort((a, b) => b.score - a.score),
      text: total,
      trust_factor: trustFactor(trust === NO_TRUST ? null : trust),
      live_tested_factor: isLiveTested(trustMark) ? LIVE_TESTED_FACTOR : 1,
    }
  })
}

interface RowScore {
  total: number
  terms: { term: PlanTerm; fields: SearchField[]; score: number }[]
}

/** A few rows' text scores, with each term's share and the fields that contain it. */
function explainScores(
  index: SearchIndex,
  range: RowRange,
  terms: readonly PlanTerm[],
  rows: readonly number[],
): ReadonlyMap<number, RowScore> {
  const found = new Map<number, RowScore>(rows.map((row) => [row, { total: 0, terms: [] }]))
  for (const term of terms) {
    const postings = readPostings(index.terms, term.number, range.name)
    postings.rows.forEach((row, at) => {
      const scored = found.get(row)
      if (scored === undefined) return
      const code = postings.codes[at] ?? 0
      const score = weightIn(index, term) * (index.terms.scoreTable[code] ?? 0)
      scored.total += score
      const fields = SEARCH_FIELDS.filter(
        (_, n) => ((index.terms.scoreTableFields[code] ?? 0) >> n) & 1,
      )
      scored.terms.push({ term, fields, score })
    })
  }
  return found
}

/** Leaves out the rows of sellers that the query excludes. */
function keepWanted(
  index: SearchIndex,
  range: RangeName,
  { excluded, bits }: { excluded: readonly KnownTerm[]; bits: Uint32Array | null },
): Uint32Array | null {
  if (excluded.length === 0) return bits
  const kept = bits?.slice() ?? allRows(index)
  for (const term of excluded)
    for (const row of rowsNamed(index, range, term)) setBit(kept, row, false)
  return kept
}
