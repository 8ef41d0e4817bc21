import type { SearchIndex } from '../index/index-shape.ts'
import type { Word } from '../words/split-text.ts'
import { MAX_SHORT_WORDS } from './excluded-names.ts'
import { lookUpPair, lookUpWord, tryWord } from './known-term.ts'

/**
 * Listings must write it as one more often than side by side. `speech to text` has a term, as they
 * write it with hyphens; words in nearly every listing are not joined, and in a long text small
 * words are adjacent by chance: `and I` is not `andi`.
 */
export function joinWords(index: SearchIndex, words: readonly Word[]): Word[] {
  const joined: Word[] = []
  const isStory = words.length > MAX_SHORT_WORDS
  for (let at = 0; at < words.length; ) {
    const found =
      joinNext(index, words.slice(at, at + 3), isStory) ??
      joinNext(index, words.slice(at, at + 2), isStory)
    const next = found ?? words[at]
    if (next !== undefined) joined.push(next)
    at += found?.parts.length ?? 1
  }
  return joined
}

function joinNext(index: SearchIndex, words: readonly Word[], isStory: boolean): Word | null {
  const { stop, generic } = index.words
  const parts = words.map(({ whole }) => whole)
  const [left, middle, right] = parts
  if (left === undefined || middle === undefined) return null
  if (!words.every(({ style, whole }) => style === 'plain' && !generic.has(whole))) return null
  if (right !== undefined && !stop.has(middle)) return null
  if (isStory && right === undefined && parts.some((part) => stop.has(part))) return null
  const whole = parts.join('')
  const { rows } = tryWord(index, whole)
  if (rows === 0) return null
  const apart = lookUpPair(index, lookUpWord(index, left), lookUpWord(index, middle)).rows
  return right !== undefined || rows >= apart ? { whole, parts, style: 'hyphen' } : null
}
