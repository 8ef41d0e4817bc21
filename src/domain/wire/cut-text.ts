/**
 * The rules by which texts are cut: `cutText` at a word's end, `cutLine` the first line likewise,
 * `cutAt` anywhere, for what is only quoted.
 */
const ELLIPSIS = '…'

/** A cut at a space must keep at least this share of the room, or the word itself is cut. */
const LEAST_KEPT = 0.6

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * @param maxLength in UTF-16 units, including the ellipsis
 * @returns the text, or its beginning up to a word's end with an ellipsis; never half a character,
 *   emoji sequence or accented letter.
 * @example cutText('one two three', 9) → 'one two…'
 */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const room = maxLength - ELLIPSIS.length
  const whole = wholeCharacters(text, room)
  const isWordEnd = /^\s/.test(text.slice(whole.length))
  const lastSpace = whole.search(/\s\S*$/)
  const kept = !isWordEnd && lastSpace >= room * LEAST_KEPT ? whole.slice(0, lastSpace) : whole
  return kept.replace(/[\s.,;:!?–—-]+$/, '') + ELLIPSIS
}

/** The first line. */
export function cutLine(text: string, maxLength: number): string {
  return cutText(text.trim().split('\n', 1)[0] ?? '', maxLength)
}

/** @param most in UTF-16 units, without the ellipsis */
export function cutAt(text: string, most: number): string {
  return text.length > most ? text.slice(0, most).toWellFormed() + ELLIPSIS : text
}

function wholeCharacters(text: string, room: number): string {
  // In ASCII every unit is a character.
  if (/^[ -~]*$/.test(text.slice(0, room + 1))) return text.slice(0, room)
  let end = 0
  // Segments only the part that may be kept: the rest of a long text is not read.
  for (const { segment } of segmenter.segment(text.slice(0, room + 100))) {
    if (end + segment.length > room) break
    end += segment.length
  }
  return text.slice(0, end)
}
