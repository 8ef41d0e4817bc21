import { MIN_FITTING } from '../../src/domain/search/search-rank.ts'
import { EFFECTS, type Effect } from '../../src/domain/wire/vocabulary.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import { hasValue } from '../../src/search/query/filter-rows.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'
import { splitText } from '../../src/search/words/split-text.ts'
import { findPhrases } from '../../src/search/words/word-sets.ts'

/** Behind one of these a word is a thing: `a post`, `the order`. */
const ARTICLES = new Set('a an the my our your his her their this that these those some'.split(' '))
/** Paying may be part of changing something, and vice versa. */
const ANSWERS: Record<Effect, readonly Effect[]> = {
  read: ['read'],
  write: ['write', 'pay'],
  delete: ['delete'],
  pay: ['pay', 'write'],
}

/** The effect a query asks for, by its first verb that implies one; null where none does. */
export function findAskedEffect({ words }: SearchIndex, q: string): Effect | null {
  const said = splitText(q)
  // `pay with MPP` is a filter.
  const phrases = findPhrases(said, words.phrases)
  let weak: Effect | null = null
  for (const [at, word] of said.entries()) {
    if (phrases.has(word) || ARTICLES.has(said[at - 1]?.whole ?? '')) continue
    const effect = words.effectOf(word.whole)
    if (words.isWeakVerb(word.whole)) weak ??= 'read'
    else if (effect !== null) return effect
  }
  return weak
}

/**
 * Puts rows with the requested effect first, if they are at least half as relevant as the best
 * match: a query to read a tweet must not get the tool that posts one. A row with an unknown
 * effect, such as a whole server, keeps its place.
 */
export function putFittingFirst<Row extends RankedRow>(
  index: SearchIndex,
  rows: readonly Row[],
  asked: Effect | null,
): Row[] {
  const [best] = rows
  if (asked === null || best === undefined) return [...rows]
  const isFirst = ({ row, relevance }: Row) =>
    relevance >= best.relevance * MIN_FITTING && doesAsked(index, row, asked)
  return [...rows.filter(isFirst), ...rows.filter((row) => !isFirst(row))]
}

/** Whether a row is not known to have another effect. */
export function doesAsked(index: SearchIndex, row: number, asked: Effect | null): boolean {
  if (asked === null) return true
  const others = EFFECTS.filter((effect) => !ANSWERS[asked].includes(effect))
  return !others.some((effect) =>
    hasValue(index, index.filterPlaces.get(`effect:${effect}`) ?? -1, row),
  )
}
