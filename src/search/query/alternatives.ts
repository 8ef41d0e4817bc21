import { inverseDocumentFrequency } from '../../domain/search/search-rank.ts'
import type { SearchIndex } from '../index/index-file.ts'
import { splitText } from '../words/split-text.ts'
import { bitsFor, bitsOf, countRows, passes } from './filter-rows.ts'
import { rowsNamed } from './known-terms.ts'
import { planQuery } from './plan-query.ts'
import { exactRows, type RankedRows, rankRows } from './rank-rows.ts'

/** Phrases that ask for an alternative to a name, which comes after or before the phrase. */
const WISHES = [
  /^(?<before>.*?)\b(?:alternativ\w* (?:to|for|zu|à|a|para)|instead of|other than|(?:replacement|substitute) for|competitors? (?:of|to)|similar to|(?:\w+er|(?:more|less) \w+) than|(?:(?:some|any)thing |services? |apis? |tools? )?like)\s+(?<name>.+?)(?<after>\s+(?:but|that|which|and|without|with|for)\s.*)?$/iu,
  /^(?<before>.*?)(?<name>\S+(?:\s\S+)?)\s+(?:alternatives?|competitors?|replacement)(?<after>.*)$/iu,
]

export interface Alternatives extends RankedRows {
  name: string
  tasks: readonly string[]
  /** A note on the words, other than the name, that no listing has. */
  missing: readonly string[]
}

/**
 * The listings that do what a named listing does, except itself and listings named after it.
 * Listings known for the same tasks come first, then the others; in each group, those that share
 * more tasks and categories and match more words come first. The task table shows what a name is
 * known for (`like`), even without a listing; any other name means its listing's tasks. Null if the
 * query wants no alternative, or more than this can answer.
 */
export function findAlternatives(
  index: SearchIndex,
  query: string,
  bits: Uint32Array | null,
): Alternatives | null {
  if (index.noun !== 'listing') return null
  for (const wish of readWishes(index, query.trim())) {
    const found = rankAlternatives(index, wish, bits)
    if (found !== null) return found
  }
  return null
}

function rankAlternatives(
  index: SearchIndex,
  { name, task, others }: Wish,
  bits: Uint32Array | null,
): Alternatives | null {
  const { excluded } = planQuery(index, `instead of ${name}`)
  const exact = exactRows(index, index.organic, { text: name, bits: null })
  // `openai` alone is no listing's whole name: then the listings named after it are used.
  const named =
    exact.length > 0
      ? exact.flatMap(({ rows }) => rows)
      : excluded.flatMap((term) => rowsNamed(index, 'organic', term))
  const known = index.filters.tasks.map((id) => ({ id, doing: bitsFor(index, `task:${id}`) }))
  const likes = index.words.tasksLike(name)
  // Other words only order the alternatives, and only if the name is certain.
  if (others !== '' && task === null && likes.length === 0 && exact.length === 0) return null
  const theirs = known.filter(({ id, doing }) =>
    likes.length > 0 ? likes.includes(id) : named.some((row) => passes(doing, row)),
  )
  const shared = theirs.filter(({ id }) => task === null || id === task)
  if (shared.length === 0) return null
  const all = Array.from({ length: index.organicRows }, (_, row) => row)
  const isKnown = rowsKnownFor(index, shared)
  const isWanted = (row: number) =>
    passes(bits, row) &&
    !named.includes(row) &&
    (isKnown.has(row) || shared.some(({ doing }) => passes(doing, row)))
  const text = [...shared.map(({ id }) => index.words.taskName(id)), others].join(' ')
  const plan = { ...planQuery(index, text), task: null, excluded }
  const wanted = bitsOf(index, all.filter(isWanted))
  const ranked = rankRows(index, index.organic, {
    ...{ text, plan, bits: wanted, sort: 'relevance', most: all.length },
  })
  const likeness = likenessTo(index, named)
  const scored = ranked.rows.map((each) => ({
    each,
    known: Number(isKnown.has(each.row)),
    score: each.relevance * (1 + ALIKE * likeness(each.row)),
  }))
  scored.sort((a, b) => b.known - a.known || b.score - a.score)
  const rows = scored.map(({ each }) => each)
  const { missing } = plan
  return { name, tasks: shared.map(({ id }) => id), missing, total: rows.length, rows }
}

/** A listing with exactly the named listing's tasks and categories gets this many times its text score in addition. */
const ALIKE = 3
const IS_LIKENESS = /^(?:task|category):/

/**
 * How similar a row's tasks and categories are to those of the given rows, from 0 to 1: the cosine
 * of the two sets, in which rarer values weigh more.
 */
function likenessTo(index: SearchIndex, rows: readonly number[]): (row: number) => number {
  const values = index.filterValues
    .filter((value) => IS_LIKENESS.test(value))
    .map((value) => {
      const bits = bitsFor(index, value)
      const isTheirs = rows.some((row) => passes(bits, row))
      const weight = inverseDocumentFrequency(index.organicRows, countRows(bits, index.organic))
      return { bits, isTheirs, weight: weight ** 2 }
    })
  const weightOf = (kept: typeof values) => kept.reduce((sum, { weight }) => sum + weight, 0)
  const theirs = weightOf(values.filter(({ isTheirs }) => isTheirs))
  return (row) => {
    const own = values.filter(({ bits }) => passes(bits, row))
    const shared = weightOf(own.filter(({ isTheirs }) => isTheirs))
    return shared === 0 ? 0 : shared / Math.sqrt(theirs * weightOf(own))
  }
}

/** The listings that are known for these tasks according to the task table. */
function rowsKnownFor(index: SearchIndex, tasks: readonly { id: string }[]): ReadonlySet<number> {
  const names = tasks.flatMap(({ id }) => index.words.knownFor(id))
  const exact = names.flatMap((text) => exactRows(index, index.organic, { text, bits: null }))
  return new Set(exact.flatMap(({ rows }) => rows))
}

interface Wish {
  name: string
  /** The listing's task that the other words name: `Twilio alternative for SMS`. */
  task: string | null
  /** The query's words other than the name. */
  others: string
}

/** Ways to understand a query as a wish: in `X alternative for Y`, either X or Y may be replaced. */
function readWishes({ words }: SearchIndex, query: string): Wish[] {
  return WISHES.flatMap((wish) => {
    const { name, before = '', after = '' } = wish.exec(query)?.groups ?? {}
    if (name === undefined) return []
    const around = splitText(`${before} ${after}`)
    const stated = around.filter(({ whole }) => !words.isOpening(whole))
    const others = stated.map(({ whole }) => whole).join(' ')
    return [{ name, task: words.taskOf(stated), others }]
  })
}
