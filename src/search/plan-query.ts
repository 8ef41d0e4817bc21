import { MAX_QUERY_CHARACTERS } from '../domain/search/search-query.ts'
import { type KnownTerm, lookUpPair, writtenAs } from './known-term.ts'
import { type QueryUnit, queryUnits } from './query-units.ts'
import { findRelated } from './related-terms.ts'
import type { TermIndex } from './term-index.ts'

/** What a query text is searched as: terms, each once, and what the caller should be told. */
export interface QueryPlan {
  /** The index that the terms carry their numbers of. */
  part: TermIndex
  /** What is asked for, in order. */
  things: readonly PlanThing[]
  /** Terms beside them: pairs of neighbours, related words. */
  others: readonly KnownTerm[]
  /** Words written as listing ids, whether or not there is such a listing. */
  ids: readonly string[]
  notes: readonly string[]
}

/** One thing asked for: any of its words is enough to hold it. */
export interface PlanThing {
  words: readonly KnownTerm[]
  /** What listings may call it. They count where several things are asked for: see `openPlan`. */
  related: readonly KnownTerm[]
}

/** Words of a query that are looked at. */
export const MAX_QUERY_WORDS = 32
/** Terms that score for the fields they stand in: half of the bound of a search's work. */
const MAX_PLAN_TERMS = 64
/** Related words of all things: the other half. */
const MAX_RELATED = 32
/** Listings that must have two words side by side for these to be one expression. */
const KNOWN_PAIR_ROWS = 10
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
  const fresh = (terms: readonly KnownTerm[]) =>
    terms.filter(({ text }) => {
      if (seen.has(text) || seen.size >= MAX_PLAN_TERMS) return false
      seen.add(text)
      return true
    })
  const words = units.map(({ terms }) => fresh(terms))
  const neighbours = findNeighbours(part, units)
  const related = createRelated(neighbours, new Set(seen))
  const things = units.map(({ term, isPart }, at) => ({
    words: words[at] ?? [],
    related: term === undefined || isPart ? [] : related(term),
  }))
  return {
    part,
    things: things.filter(({ words, related }) => words.length + related.length > 0),
    others: fresh(otherTerms(part, neighbours, rows)),
    ids: units.flatMap(({ id }) => id ?? []),
    notes: notesOf(part, units),
  }
}

function firstCharacters(text: string): string {
  if (text.length <= MAX_QUERY_CHARACTERS) return text
  return [...text.slice(0, 2 * MAX_QUERY_CHARACTERS)].slice(0, MAX_QUERY_CHARACTERS).join('')
}

/** The words of a query that have neighbours, in order. */
interface Neighbours {
  terms: readonly KnownTerm[]
  /** The pair each forms with the next. */
  pairs: readonly (KnownTerm | null)[]
  /** What listings may call each. */
  related: readonly (readonly KnownTerm[])[]
}

function findNeighbours(part: TermIndex, units: readonly QueryUnit[]): Neighbours {
  const terms = units.flatMap(({ term }) => term ?? [])
  const pairs = terms.map((term, at) => {
    const next = terms[at + 1]
    return next === undefined || next.text === term.text ? null : lookUpPair(part, term, next)
  })
  return { terms, pairs, related: terms.map(({ text }) => findRelated(part, text)) }
}

/**
 * What listings may call a word asked for, unless that is asked for too. Beside the neighbour it is
 * known with, a word has one meaning: the `graph` of `knowledge graph` is no chart.
 */
function createRelated(
  { terms, pairs, related }: Neighbours,
  asked: ReadonlySet<string>,
): (term: KnownTerm) => KnownTerm[] {
  let left = MAX_RELATED
  const isKnown = (at: number) => (pairs[at]?.rows ?? 0) >= KNOWN_PAIR_ROWS
  return (term) => {
    const at = terms.indexOf(term)
    if (isKnown(at - 1) || isKnown(at)) return []
    const found = related[at]?.filter(({ text }) => !asked.has(text)).slice(0, left) ?? []
    left -= found.length
    return found
  }
}

/** Pairs of neighbours, as asked and with a related word in the place of one. */
function otherTerms(
  part: TermIndex,
  { terms, pairs, related }: Neighbours,
  rows: number,
): KnownTerm[] {
  const found: KnownTerm[] = []
  terms.forEach((term, at) => {
    const next = terms[at + 1]
    const pair = pairs[at] ?? null
    if (next !== undefined && pair !== null) {
      if (pair.rows > 0) found.push(pair)
      for (const other of related[at] ?? []) addPair(found, part, other, next)
      for (const other of related[at + 1] ?? []) addPair(found, part, term, other)
    }
    if (term.rows * POORLY_KNOWN <= rows) found.push(...(related[at] ?? []))
  })
  return found
}

function addPair(found: KnownTerm[], part: TermIndex, a: KnownTerm, b: KnownTerm): void {
  const pair = lookUpPair(part, a, b)
  if (pair.rows > 0) found.push(pair)
}

function notesOf(part: TermIndex, units: readonly QueryUnit[]): string[] {
  if (units.length === 0) return ['The query has no word to search for.']
  const repaired = new Set(units.flatMap((unit) => unit.repaired ?? []))
  const shown = repaired.size === 0 ? [] : [`Showing results for ${listOf([...repaired])}.`]
  return [...shown, ...new Set(units.flatMap((unit) => unknownNote(part, unit)))]
}

/** Whoever gets the listings of other words should know that nobody has the one asked for. */
function unknownNote(part: TermIndex, { term, unknown }: QueryUnit): string[] {
  if (term === undefined || unknown === undefined) return []
  const related = findRelated(part, term.text).map((other) => writtenAs(part, other))
  if (related.length === 0) return []
  return [`No listing has “${unknown}”; searched for ${listOf(related)}.`]
}

function listOf(words: readonly string[]): string {
  return words.map((word) => `“${word}”`).join(', ')
}
