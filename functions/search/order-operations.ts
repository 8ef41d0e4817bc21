import type { FoundOperation } from '../../src/domain/kit/found-operation.ts'
import { MIN_FITTING } from '../../src/domain/search/search-rank.ts'
import { largestOf } from '../../src/domain/wire/json.ts'
import type { Effect } from '../../src/domain/wire/vocabulary.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import { hasValue } from '../../src/search/query/filter-rows.ts'
import { splitText, stemWord } from '../../src/search/words/split-text.ts'
import { doesAsked } from './asked-effect.ts'
import type { FoundRow, ReadRow } from './stored-rows.ts'

/** At most this many rows of one listing among this many first places; the others follow. */
const FIRST_PLACES = 5
const OF_ONE_LISTING = 2
/** Rows of one listing considered for the one whose name was requested. */
const COMPARED = 8

/** The part of the query that orders the found rows. */
interface Asked {
  q: string
  rows: readonly FoundRow[]
  /** How many rows are shown. */
  end: number
  effect: Effect | null
  read: ReadRow
}

/**
 * Among a listing's rows of similar relevance, the one whose name has most words of the query, and
 * no others, swaps places with the best: querying a database needs `execute_sql`, not
 * `explain_query`, and creating an event `create_event`, not `get_event`.
 */
export function putNamedFirst(index: SearchIndex, { q, rows, end, effect, read }: Asked) {
  const meant = wordsOf(q).flatMap((word) => [word, ...index.words.relatedTo(word)])
  const asked = new Set(meant.map(stemWord))
  const countSaid = (row: number) => {
    const { name = '' } = read(row).operation
    const words = wordsOf(name).filter((word) => !index.words.stop.has(word))
    return words.every((word) => asked.has(stemWord(word))) ? words.length : 0
  }
  const ordered = [...rows]
  const byListing = Map.groupBy(rows, ({ listing }) => listing)
  for (const own of [...byListing.values()].slice(0, Math.min(FIRST_PLACES, end))) {
    const [best] = own
    if (best === undefined) continue
    const close = own
      .slice(0, COMPARED)
      .filter(({ relevance }) => relevance >= best.relevance * MIN_FITTING)
      .filter(({ row }) => doesAsked(index, row, effect))
    // Reading names costs as much as the search, so only where there is a choice.
    if (close.length < 2 || !close.includes(best)) continue
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

/**
 * Those that do the task of the question, if they are at least half as relevant as the best that
 * does: `address to coordinates` gets what geocodes before what finds an address. `count` of them
 * stand first.
 */
export function putTaskFirst(
  index: SearchIndex,
  rows: readonly FoundRow[],
  task: string | null,
): { rows: readonly FoundRow[]; count: number } {
  const place = task === null ? undefined : index.filterPlaces.get(`task:${task}`)
  const able = rows.filter(({ row }) => place !== undefined && hasValue(index, place, row))
  const most = largestOf(able.map(({ relevance }) => relevance))
  const doing = able.filter(({ relevance }) => relevance >= most * MIN_FITTING)
  const first = new Set(doing)
  return { rows: [...doing, ...rows.filter((row) => !first.has(row))], count: doing.length }
}

/**
 * The rows in their order, except that no listing fills the first places alone, and no whole server
 * or agent is among them if one of its operations is.
 */
export function spread(rows: readonly FoundRow[], read: ReadRow): FoundRow[] {
  const counts = new Map<string, number>()
  const [first, later]: [FoundRow[], FoundRow[]] = [[], []]
  for (const row of rows) {
    const count = (counts.get(row.listing) ?? 0) + 1
    counts.set(row.listing, count)
    const isFree = first.length < FIRST_PLACES && count <= OF_ONE_LISTING
    const isFirst = isFree && (count === 1 || isDeed(read(row.row).operation))
    if (isFirst) first.push(row)
    else later.push(row)
  }
  return [...first, ...later]
}

function isDeed({ name, method }: FoundOperation['operation']): boolean {
  return name !== undefined || method !== undefined
}
