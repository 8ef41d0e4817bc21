import type { Kind } from '../../domain/wire/vocabulary.ts'

/**
 * Up to two letters shown for a listing without a logo: the first letters of its first two words,
 * or the first two letters of a single word. Other scripts give one character.
 * @example toMonogram('Fair Weather') → 'FW'; toMonogram('GitHub') → 'Gi'; toMonogram('天気') → '天'
 */
export function toMonogram(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? []
  const [first = '', second] = words
  const letters = [...first]
  const initial = letters[0] ?? '·'
  if (!/^\p{Script=Latin}|^\p{N}/u.test(initial)) return initial
  if (second !== undefined && /^[\p{Script=Latin}\p{N}]/u.test(second))
    return `${initial}${[...second][0] ?? ''}`.toUpperCase()
  return `${initial.toUpperCase()}${letters[1]?.toLowerCase() ?? ''}`
}

/** The class that gives an element the signpost outline of a kind. */
export const toShape = (kind: Kind) => (kind === 'kit' ? 'is-kit' : kind)
