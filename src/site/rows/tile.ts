/** Hues a tile's tint is chosen from; they carry no meaning. */
const HUES = 6

/**
 * Up to two letters that stand for a listing where others would show a logo: first letters of its
 * first two words, else the first two letters of one. Scripts without letters of that kind give one.
 *
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

/** 1 to 6, from the id, so that a listing keeps its tint. FNV-1a. */
export function toHue(id: string): number {
  let digest = 0x811c9dc5
  for (let index = 0; index < id.length; index++)
    digest = Math.imul(digest ^ id.charCodeAt(index), 0x01000193)
  return ((digest >>> 0) % HUES) + 1
}
