import { RELEVANCE_STEPS } from '../../domain/search/search-rank.ts'
import { multiplierOf, NO_TRUST } from '../index/columns.ts'
import type { KnownTerm, SearchIndex } from '../index/index-shape.ts'
import { splitText } from '../words/split-text.ts'
import { findPhrases } from '../words/word-sets.ts'
import { bitsFor, passes } from './filter-rows.ts'
import { keepWanted } from './long-and-excluded.ts'
import { exactRows, type RankedRow, type RankedRows } from './rank-rows.ts'

/** Ways to ask for what does the same as somebody: the name stands behind, or before. */
const WISHES = [
  /^(?<before>.*?)\b(?:alternativ\w* (?:to|for|zu|à|a|para)|instead of|(?:replacement|substitute) for|competitors? (?:of|to)|similar to|(?:(?:some|any)thing |services? |apis? |tools? )?like)\s+(?<name>.+?)(?<after>\s+(?:but|that|which|and|without|with|for)\s.*)?$/iu,
  /^(?<before>.*?)(?<name>\S+(?:\s\S+)?)\s+(?:alternatives?|competitors?|replacement)(?<after>.*)$/iu,
]

export interface Alternatives extends RankedRows {
  name: string
  tasks: readonly string[]
}

/**
 * The listings that do what a named one does, without it and what is named after it: those with the
 * most in common first. What somebody is known for stands in the table of tasks (`like`), for names
 * without a listing too; else the tasks of the listing count. Null where the query is no such wish,
 * or says more than that.
 */
export function findAlternatives(
  index: SearchIndex,
  query: string,
  {
    bits,
    excludedBy,
  }: { bits: Uint32Array | null; excludedBy(name: string): readonly KnownTerm[] },
): Alternatives | null {
  const name = index.noun === 'listing' ? findName(index, query.trim()) : null
  if (name === null) return null
  const excluded = excludedBy(name)
  const named = rowsNamed(index, name, excluded)
  const known = index.filters.tasks.map((id) => ({
    id,
    doing: bitsFor(index, index.filterPlaces.get(`task:${id}`)),
  }))
  const likes = index.words.tasksLike(name)
  const shared = known.filter(({ id, doing }) =>
    likes.length > 0 ? likes.includes(id) : named.some((row) => passes(doing, row)),
  )
  if (shared.length === 0) return null
  const wanted = keepWanted(index, 'organic', { excluded, bits })
  const rows: RankedRow[] = []
  for (let row = index.organic.start; row < index.organic.end; row += 1) {
    if (named.includes(row) || !passes(wanted, row)) continue
    const common = shared.filter(({ doing }) => passes(doing, row)).length
    if (common === 0) continue
    const all = known.filter(({ doing }) => passes(doing, row)).length
    const score =
      (common / Math.sqrt(all * shared.length)) * multiplierOf(index.trustMarks[row] ?? NO_TRUST)
    rows.push({ row, relevance: Math.round(score * RELEVANCE_STEPS) / RELEVANCE_STEPS })
  }
  rows.sort((a, b) => b.relevance - a.relevance || a.row - b.row)
  return { name, tasks: shared.map(({ id }) => id), total: rows.length, rows }
}

/** The name, where the words around it say nothing: `what can I use instead of X`, `like X but cheaper`. */
function findName({ words }: SearchIndex, query: string): string | null {
  for (const wish of WISHES) {
    const { name, before = '', after = '' } = wish.exec(query)?.groups ?? {}
    const around = splitText(`${before} ${after}`)
    const phrases = findPhrases(around, words.phrases)
    const isStated = around.some(
      (word) => !phrases.has(word) && !words.aside.has(word.whole) && !words.isOpening(word.whole),
    )
    if (name !== undefined && !isStated) return name
  }
  return null
}

/** The rows of that name; `openai` alone is nobody's whole name, then those named after it. */
function rowsNamed(
  index: SearchIndex,
  name: string,
  excluded: readonly KnownTerm[],
): readonly number[] {
  const exact = exactRows(index, index.organic, { text: name, bits: null })
  if (exact.length > 0 || excluded.length === 0) return exact.flatMap(({ rows }) => rows)
  const others = keepWanted(index, 'organic', { excluded, bits: null })
  const all = Array.from({ length: index.organicRows }, (_, row) => row)
  return all.filter((row) => !passes(others, row))
}
