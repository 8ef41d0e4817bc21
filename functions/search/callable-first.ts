import { countSaid } from '../../src/domain/arguments/fill-arguments.ts'
import { type QuestionFacts, saysArguments } from '../../src/domain/arguments/question-facts.ts'
import { MIN_FITTING } from '../../src/domain/search/search-rank.ts'
import { largestOf } from '../../src/domain/wire/json.ts'
import type { Effect } from '../../src/domain/wire/vocabulary.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import { doesAsked } from './asked-effect.ts'
import type { FoundRow, ReadRow, Stored } from './stored-rows.ts'

/** Rows read to see what their calls take: reading one costs as much as ranking hundreds. */
const READ = 24

/**
 * Among rows of similar relevance, those whose call takes values from the query come first, and of
 * these, those that need nothing else: a query that names a city gets a call with it filled in,
 * before one that needs a key, and before one that takes no place.
 */
export function putCallableFirst(
  index: SearchIndex,
  rows: readonly FoundRow[],
  { effect, facts, doing, read }: Wanted,
): FoundRow[] {
  if (facts === null || !saysArguments(facts)) return [...rows]
  const head = rows.slice(0, doing > 0 ? doing : rows.length)
  const most = largestOf(head.map(({ relevance }) => relevance))
  const close = head
    .filter(
      ({ row, relevance }) => relevance >= most * MIN_FITTING && doesAsked(index, row, effect),
    )
    .slice(0, READ)
  const standing = new Map(close.map((row) => [row, toStanding(read(row.row), facts)]))
  const ordered = close.toSorted((a, b) => (standing.get(b) ?? 0) - (standing.get(a) ?? 0))
  return [...ordered, ...rows.filter((row) => !standing.has(row))]
}

interface Wanted {
  effect: Effect | null
  facts: QuestionFacts | null
  /** How many rows stay first, as they do the task; 0 where none is known to. */
  doing: number
  read: ReadRow
}

/** How many values of the query it takes; one that can be called as shown comes first. */
function toStanding({ operation, slots, filled }: Stored, facts: QuestionFacts): number {
  const { example, url = '', bring } = operation
  const said = example === undefined ? 0 : countSaid(url, example, slots, facts)
  if (said === 0) return 0
  const isComplete = bring === undefined && !/<[A-Z0-9_]+>/.test(JSON.stringify(filled()))
  return isComplete ? said + CALLABLE : said
}

/** More than a query can contain. */
const CALLABLE = 100
