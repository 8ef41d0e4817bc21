import type { KnownTerm, SearchIndex } from '../index/index-shape.ts'
import { splitText, type Word } from '../words/split-text.ts'
import { findPhrases } from '../words/word-sets.ts'
import { bitsFor, passes } from './filter-rows.ts'
import { lookUpWord } from './known-terms.ts'
import { rowsNamed } from './long-and-excluded.ts'

/** Ways to ask for what does the same as somebody: the name stands behind, or before. */
const BEHIND =
  /^(?<before>.*?)\b(?:alternativ\w* (?:to|for|zu|à|a|para)|instead of|replacement for|substitute for|competitors? (?:of|to)|similar to|(?:(?:some|any)thing |services? |apis? |tools? )?like)\s+(?<name>.+?)(?<after>\s+(?:but|that|which|and|without|with|for)\s.*)?$/iu
const BEFORE =
  /^(?<before>.+?)\s+(?:alternativ\w*|competitors?|replacement|substitute)(?<after>\s.*)?$/iu
/** `Open Exchange Rates`. */
const WORDS_OF_A_NAME = 3

/** What does the same as somebody is wanted: its tasks, whose name is left out, and what else is said. */
export interface Wish {
  name: string
  tasks: readonly string[]
  excluded: readonly KnownTerm[]
  words: readonly Word[]
}

/**
 * Null where a query is no such wish. What somebody is known for stands in the table of tasks
 * (`like`), for names without a listing too; else the tasks of the listing count, where the words
 * around say nothing else.
 */
export function readWish(index: SearchIndex, query: string): Wish | null {
  const behind = BEHIND.exec(query.trim())?.groups
  if (behind !== undefined) {
    const { before = '', name = '', after = '' } = behind
    return toWish(index, name, `${before} ${after}`)
  }
  const { before = '', after = '' } = BEFORE.exec(query.trim())?.groups ?? {}
  const words = before.split(/\s+/)
  const starts = words.map((_, at) => at).slice(-WORDS_OF_A_NAME)
  for (const at of starts) {
    const [around, name] = [words.slice(0, at), words.slice(at)].map((part) => part.join(' '))
    const wish = name && toWish(index, name, `${around} ${after}`)
    if (wish) return wish
  }
  return null
}

function toWish(index: SearchIndex, name: string, around: string): Wish | null {
  const { stop, aside, phrases, tasksLike, isOpening } = index.words
  const likes = tasksLike(name)
  const words = splitText(around)
  const found = findPhrases(words, phrases)
  const others = words.filter((word) => !aside.has(word.whole) && !isOpening(word.whole))
  if (likes.length === 0 && others.some((word) => !found.has(word))) return null
  const [first] = splitText(name).filter(({ whole }) => !stop.has(whole))
  const term = lookUpWord(index, first?.parts[0] ?? first?.whole ?? '')
  const named = rowsNamed(index, 'organic', term)
  const tasks = index.filters.tasks.filter((id) => {
    if (likes.length > 0) return likes.includes(id)
    const doing = bitsFor(index, index.filterPlaces.get(`task:${id}`))
    return named.some((row) => passes(doing, row))
  })
  return tasks.length === 0
    ? null
    : { name, tasks, words: others, excluded: named.length > 0 ? [term] : [] }
}
