import { RELEVANCE_STEPS } from '../../domain/search/search-rank.ts'
import { multiplierOf, NO_TRUST } from '../index/columns.ts'
import type { KnownTerm, SearchIndex } from '../index/index-shape.ts'
import { bitsFor, passes } from './filter-rows.ts'
import { keepWanted } from './long-and-excluded.ts'
import { exactRows, type RankedRow, type RankedRows } from './rank-rows.ts'

/** Ways to ask for what does the same as somebody: the name stands behind, or before. */
const BEHIND =
  /^(?:an? )?(?:alternativ\w* (?:to|for|zu|à|a|para)|instead of|(?:something |services? |apis? |tools? )?(?:like|similar to))\s+(.+)$/iu
const BEFORE = /^(.+?)\s+alternatives?$/iu

export interface Alternatives extends RankedRows {
  name: string
  tasks: readonly string[]
}

/**
 * The listings that share tasks with the one a query wants an alternative to, without it and what is
 * named after it: those with the most in common first. Null where the query is no such wish, or
 * nobody says what that listing does.
 */
export function findAlternatives(
  index: SearchIndex,
  query: string,
  {
    bits,
    excludedBy,
  }: { bits: Uint32Array | null; excludedBy(name: string): readonly KnownTerm[] },
): Alternatives | null {
  const text = query.trim()
  const name = (BEHIND.exec(text) ?? BEFORE.exec(text))?.[1]?.trim()
  if (name === undefined || index.noun !== 'listing') return null
  const named = new Set(
    exactRows(index, index.organic, { text: name, bits: null }).flatMap(({ rows }) => rows),
  )
  const known = index.filters.tasks.map((id) => ({
    id,
    doing: bitsFor(index, index.filterPlaces.get(`task:${id}`)),
  }))
  const excluded = excludedBy(name)
  const toShared = () => known.filter(({ doing }) => [...named].some((row) => passes(doing, row)))
  let shared = toShared()
  if (shared.length === 0 && excluded.length > 0) {
    // `openai` alone is nobody's whole name: those named after it say what it does.
    const others = keepWanted(index, 'organic', { excluded, bits: null })
    for (let row = index.organic.start; row < index.organic.end; row += 1)
      if (!passes(others, row)) named.add(row)
    shared = toShared()
  }
  if (shared.length === 0) return null
  const wanted = keepWanted(index, 'organic', { excluded, bits })
  const rows: RankedRow[] = []
  for (let row = index.organic.start; row < index.organic.end; row += 1) {
    if (named.has(row) || !passes(wanted, row)) continue
    const common = shared.filter(({ doing }) => passes(doing, row)).length
    if (common === 0) continue
    const all = known.filter(({ doing }) => passes(doing, row)).length
    const score =
      (common / Math.sqrt(all * shared.length)) * multiplierOf(index.standings[row] ?? NO_TRUST)
    rows.push({ row, relevance: Math.round(score * RELEVANCE_STEPS) / RELEVANCE_STEPS })
  }
  rows.sort((a, b) => b.relevance - a.relevance || a.row - b.row)
  return { name, tasks: shared.map(({ id }) => id), total: rows.length, rows }
}
