import { CATEGORY_KEYWORDS, DEFAULT_CATEGORY } from './category-keywords.ts'

const NAME_WEIGHT = 3
const TEXT_WEIGHT = 1
/** A second category must be about as well supported as the first. */
const SECOND_SHARE = 0.6
const SECOND_LEAST = 2

const MATCHERS = Object.entries(CATEGORY_KEYWORDS).map(([id, keywords]) => ({
  id,
  // One pattern a category: 20 passes over a text instead of 350.
  pattern: new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${keywords.map(toPattern).join('|')})(?![\\p{L}\\p{N}])`,
    'giu',
  ),
}))

/**
 * One or two categories by the words of a name and a description; deterministic, so that a second
 * import says the same.
 *
 * @param known ids of the category table; others are never given.
 */
export function guessCategories(name: string, text: string, known: ReadonlySet<string>): string[] {
  const scores = MATCHERS.filter(({ id }) => known.has(id))
    .map(({ id, pattern }) => ({
      id,
      score: NAME_WEIGHT * countWords(name, pattern) + TEXT_WEIGHT * countWords(text, pattern),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
  const [first, second] = scores
  if (first === undefined) return known.has(DEFAULT_CATEGORY) ? [DEFAULT_CATEGORY] : []
  const hasSecond =
    second !== undefined &&
    second.score >= SECOND_LEAST &&
    second.score >= first.score * SECOND_SHARE
  return hasSecond ? [first.id, second.id] : [first.id]
}

/** Different words count, not one word repeated. */
function countWords(text: string, pattern: RegExp): number {
  const words = text.replace(/[_/-]+/g, ' ').concat(' ', text)
  return new Set([...words.matchAll(pattern)].map(([word]) => word.toLowerCase())).size
}

function toPattern(keyword: string): string {
  const escaped = keyword.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
  return escaped.replace(/\*$/, '[\\p{L}]*')
}
