import { MAX_QUERY_CHARACTERS } from '../domain/search-query.ts'
import { rowsWith, rowsWithPair } from './index-words.ts'
import { pairTerm } from './pair-term.ts'
import { type QueryUnit, queryUnits } from './query-units.ts'
import { relatedTerms } from './related-words.ts'
import type { TermIndex } from './term-index.ts'

/** What a query text is searched as: terms, each once, and what the caller should be told. */
export interface QueryPlan {
  /** What is asked for, in order: the terms of each thing, any of which is enough to hold it. */
  things: readonly (readonly string[])[]
  /** Terms beside them: pairs of neighbours, related words. */
  others: readonly string[]
  /** Words written as listing ids, whether or not there is such a listing. */
  ids: readonly string[]
  notes: readonly string[]
}

/** Words of a query that are looked at. */
export const MAX_QUERY_WORDS = 32
/** Words, pairs and related terms together: the bound of a search's work. */
const MAX_PLAN_TERMS = 64
/** A word in at most one of this many listings is also searched as what it is related to. */
const POORLY_KNOWN = 2500

/**
 * Reads a query: which words the index knows, which were slips, which belong together. All of it
 * chooses terms; how terms are scored is the specification's.
 * @param part the organic rows: only their words decide, so that our own listings move nothing
 * @param rows how many they are
 */
export function planQuery(part: TermIndex, text: string, rows: number): QueryPlan {
  const units = queryUnits(part, firstCharacters(text), MAX_QUERY_WORDS)
  const seen = new Set<string>()
  const fresh = (terms: readonly string[]) =>
    terms.filter((term) => {
      if (seen.has(term) || seen.size >= MAX_PLAN_TERMS) return false
      seen.add(term)
      return true
    })
  return {
    things: units.map(({ terms }) => fresh(terms)).filter((terms) => terms.length > 0),
    others: fresh(neighbourTerms(part, units, rows)),
    ids: units.flatMap(({ id }) => id ?? []),
    notes: notesOf(units),
  }
}

function firstCharacters(text: string): string {
  if (text.length <= MAX_QUERY_CHARACTERS) return text
  return [...text.slice(0, 2 * MAX_QUERY_CHARACTERS)].slice(0, MAX_QUERY_CHARACTERS).join('')
}

/** Pairs of neighbours, as asked and with a related word in the place of one. */
function neighbourTerms(part: TermIndex, units: readonly QueryUnit[], rows: number): string[] {
  const found: string[] = []
  const places = units.flatMap(({ term }) => term ?? [])
  places.forEach((term, at) => {
    const next = places[at + 1]
    if (next !== undefined && next !== term) addPairs(found, part, term, next)
    const related = relatedTerms(term)
    if (related.length === 0 || rowsWith(part, term) * POORLY_KNOWN > rows) return
    found.push(...related.filter((other) => rowsWith(part, other) > 0))
  })
  return found
}

function addPairs(found: string[], part: TermIndex, term: string, next: string): void {
  const add = (a: string, b: string) => {
    if (rowsWithPair(part, a, b) > 0) found.push(pairTerm(a, b))
  }
  add(term, next)
  for (const related of relatedTerms(term)) add(related, next)
  for (const related of relatedTerms(next)) add(term, related)
}

function notesOf(units: readonly QueryUnit[]): string[] {
  if (units.length === 0) return ['The query has no word to search for.']
  const repaired = new Set(units.flatMap((unit) => unit.repaired ?? []))
  if (repaired.size === 0) return []
  const shown = Array.from(repaired, (word) => `“${word}”`).join(', ')
  return [`Showing results for ${shown}.`]
}
