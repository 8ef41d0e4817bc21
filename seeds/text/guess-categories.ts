import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { parse } from 'yaml'

/** The default where no word matches: a server for agents is first of all a developer's tool. */
const DEFAULT_CATEGORY = 'developer_tools'

const KEYWORDS = v.parse(
  v.record(v.string(), v.string()),
  parse(readFileSync(new URL('./category-words.yaml', import.meta.url), 'utf8')),
)

const NAME_WEIGHT = 3
const TEXT_WEIGHT = 1
/** A second category must be about as well supported as the first. */
const SECOND_SHARE = 0.6
const SECOND_LEAST = 2

/** Keywords as words: each matches a text with them in sequence, the last one as a stem. */
const ALL = Object.entries(KEYWORDS).flatMap(([category, keywords]) =>
  keywords
    .split(',')
    .map((text) => ({ category, words: toWords(text), isStem: text.endsWith('*') })),
)
/** Words are looked up, not searched for: 350 patterns over 4,000 texts would cost seconds. */
const BY_START = Map.groupBy(ALL, ({ words }) => words[0]?.slice(0, 2))

/**
 * One or two categories by the words of a name and a description; deterministic, so that a second
 * import says the same.
 *
 * @param known ids of the category table; no others are returned.
 */
export function guessCategories(name: string, text: string, known: ReadonlySet<string>): string[] {
  const [inName, inText] = [countWords(name), countWords(text)]
  const scores = Object.keys(KEYWORDS)
    .filter((id) => known.has(id))
    .map((id) => ({
      id,
      score: NAME_WEIGHT * (inName.get(id)?.size ?? 0) + TEXT_WEIGHT * (inText.get(id)?.size ?? 0),
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
function countWords(text: string): Map<string, Set<string>> {
  const counts = new Map<string, Set<string>>()
  const words = toWords(text)
  words.forEach((word, at) => {
    for (const keyword of findKeywords(words, word, at)) {
      const found = counts.get(keyword.category) ?? new Set()
      found.add(keyword.words.length === 1 ? word : keyword.words.join(' '))
      counts.set(keyword.category, found)
    }
  })
  return counts
}

function findKeywords(words: readonly string[], word: string, at: number) {
  return (BY_START.get(word.slice(0, 2)) ?? []).filter(({ words: parts, isStem }) =>
    parts.every((part, i) => {
      const there = words[at + i] ?? ''
      const isLast = i === parts.length - 1
      if (!isLast || !isStem) return there === part
      // One word's stem ends before a number: "mail*" is not "mail2000".
      return there.startsWith(part) && (i > 0 || !/\d/.test(there.slice(part.length)))
    }),
  )
}

function toWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}
