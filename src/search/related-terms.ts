import { type KnownTerm, lookUp } from './known-term.ts'
import { relatedTerms } from './related-words.ts'
import type { TermIndex } from './term-index.ts'

/** Related words of one word that are looked at. */
const MAX_RELATED_OF_ONE = 6
const NONE: readonly KnownTerm[] = []
/** What was looked up once in an index; a vocabulary has some thousand words. */
const lookedUp = new WeakMap<TermIndex, Map<string, readonly KnownTerm[]>>()

/** What the listings of an index may call a term that was asked for. */
export function findRelated(part: TermIndex, term: string): readonly KnownTerm[] {
  const memory = memoryOf(part)
  const known = memory.get(term)
  if (known !== undefined) return known
  const others = relatedTerms(term)
  // Most words have none, and there is no end of words: those aren't remembered.
  if (others.length === 0) return NONE
  const found = others.map((other) => lookUp(part, other)).filter(({ rows }) => rows > 0)
  const first = found.slice(0, MAX_RELATED_OF_ONE)
  memory.set(term, first)
  return first
}

function memoryOf(part: TermIndex): Map<string, readonly KnownTerm[]> {
  const known = lookedUp.get(part)
  if (known !== undefined) return known
  const memory = new Map<string, readonly KnownTerm[]>()
  lookedUp.set(part, memory)
  return memory
}
