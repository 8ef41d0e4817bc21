import { MAX_QUERY_CHARACTERS } from '../domain/search-query.ts'
import { findNeighbours, type KnownTerm, lookUp } from './known-term.ts'
import { pairTerm } from './pair-term.ts'
import { type QueryUnit, queryUnits } from './query-units.ts'
import { relatedTerms } from './related-words.ts'
import type { TermIndex } from './term-index.ts'

/** What a query text is searched as: terms, each once, and what the caller should be told. */
export interface QueryPlan {
  /** The index that the terms carry their numbers of. */
  part: TermIndex
  /** What is asked for, in order: the terms of each thing, any of which is enough to hold it. */
  things: readonly (readonly PlanTerm[])[]
  /** Terms beside them: pairs of neighbours, related words. */
  others: readonly PlanTerm[]
  /** Words written as listing ids, whether or not there is such a listing. */
  ids: readonly string[]
  notes: readonly string[]
}

export type PlanTerm = Pick<KnownTerm, 'text' | 'number'>

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
export function planQuery(part: TermIndex, query: string, rows: number): QueryPlan {
  const units = queryUnits(part, firstCharacters(query), MAX_QUERY_WORDS)
  const seen = new Set<string>()
  const fresh = (terms: readonly PlanTerm[]) =>
    terms.filter(({ text }) => {
      if (seen.has(text) || seen.size >= MAX_PLAN_TERMS) return false
      seen.add(text)
      return true
    })
  return {
    part,
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
function neighbourTerms(part: TermIndex, units: readonly QueryUnit[], rows: number): PlanTerm[] {
  const found: PlanTerm[] = []
  const terms = units.flatMap(({ term }) => term ?? [])
  const related = terms.map(({ text }) => relatedTerms(text).map((other) => lookUp(part, other)))
  terms.forEach((term, at) => {
    const next = terms[at + 1]
    if (next !== undefined && next.text !== term.text) {
      addPair(found, part, term, next)
      for (const other of related[at] ?? []) addPair(found, part, other, next)
      for (const other of related[at + 1] ?? []) addPair(found, part, term, other)
    }
    if (term.rows * POORLY_KNOWN > rows) return
    found.push(...(related[at] ?? []).filter((other) => other.rows > 0))
  })
  return found
}

function addPair(found: PlanTerm[], part: TermIndex, a: KnownTerm, b: KnownTerm): void {
  const number = findNeighbours(part, a, b)
  if (number >= 0) found.push({ text: pairTerm(a.text, b.text), number })
}

function notesOf(units: readonly QueryUnit[]): string[] {
  if (units.length === 0) return ['The query has no word to search for.']
  const repaired = new Set(units.flatMap((unit) => unit.repaired ?? []))
  if (repaired.size === 0) return []
  const shown = Array.from(repaired, (word) => `“${word}”`).join(', ')
  return [`Showing results for ${shown}.`]
}
