/**
 * The rules for cutting texts: `cutText` cuts at the end of a word, `cutLine` does the same in the
 * first line, and `cutAt`, for short quotes, cuts anywhere.
 */
const ELLIPSIS = '…'

/** A cut at a space must keep at least this share of the room; otherwise the cut goes through a word. */
const LEAST_KEPT = 0.6

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * @param maxLength in UTF-16 units, including the ellipsis
 * @returns the text, or its beginning up to the end of a word, with an ellipsis; never half a
 * character, emoji sequence or accented letter
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

/**
 * @returns as many whole names as fit into `maxLength` characters, but at least one, with an ellipsis
 * for the others
 */
export function joinNames(names: readonly string[], maxLength: number): string {
  const shown = names.filter(
    (_, at) => at === 0 || names.slice(0, at + 1).join(', ').length <= maxLength,
  )
  const text = shown.join(', ')
  const more = `, ${ELLIPSIS}`
  return names.length > shown.length && !text.endsWith(more) ? text + more : text
}

/** The text without percent-encoding; null if a percent sign encodes nothing. */
export function decodePercents(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** The first line, cut like `cutText`. */
export function cutLine(text: string, maxLength: number): string {
  return cutText(text.trim().split('\n', 1)[0] ?? '', maxLength)
}

/** @param most in UTF-16 units, without the ellipsis */
export function cutAt(text: string, most: number): string {
  return text.length > most ? text.slice(0, most).toWellFormed() + ELLIPSIS : text
}

function wholeCharacters(text: string, room: number): string {
  // In ASCII every unit is one character.
  if (/^[ -~]*$/.test(text.slice(0, room + 1))) return text.slice(0, room)
  let end = 0
  // Segments only the part that may be kept: the rest of a long text is not read.
  for (const { segment } of segmenter.segment(text.slice(0, room + 100))) {
    if (end + segment.length > room) break
    end += segment.length
  }
  return text.slice(0, end)
}

/** Longest name that is compared; schema keys are shorter than this. */
const MAX_LENGTH = 60

/** How many letters may be wrong if the first letters are wrong too. */
const MAX_EDITS = 3

/** How many first letters two names must share to be taken for the same word, as `price` and `pricing` do. */
const MIN_START = 3

/**
 * The nearest known name: at most half of its letters differ, or one name starts with the other; else null.
 * @example findNearestName('price', ['pricing', 'tags']) → 'pricing'
 */
export function findNearestName(name: string, known: readonly string[]): string | null {
  const written = name.toLowerCase()
  if (written.length > MAX_LENGTH) return null
  let best: string | null = null
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of known)
    for (const word of wordsOf(candidate)) {
      const edits = countEdits(written, word)
      // Typos come late in a word: names with the same start are nearer.
      const distance = edits - countSameStart(written, word)
      if (distance < bestDistance && isNear(written, word, edits)) {
        best = candidate
        bestDistance = distance
      }
    }
  return best
}

/** The name itself, and words inside it that are long enough: `wether` means `geo_weather`. */
function wordsOf(name: string): string[] {
  const whole = name.toLowerCase()
  return [whole, ...whole.split('_').filter((word) => word !== whole && word.length > MIN_START)]
}

function isNear(a: string, b: string, edits: number): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  const same = countSameStart(a, b)
  if (short.length >= MIN_START && same === short.length) return true
  if (same >= MIN_START && edits <= long.length / 2) return edits < short.length
  return (
    edits <= Math.min(MAX_EDITS, Math.max(1, Math.floor(short.length / 2))) && edits < short.length
  )
}

function countSameStart(a: string, b: string): number {
  let count = 0
  while (count < a.length && a[count] === b[count]) count++
  return count
}

/** Levenshtein distance of two short names. */
export function countEdits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? a.length
}

/** The key that distinguishes a listing's operations. */
export function toOperationKey({ method, url }: { method: string; url: string }): string {
  return `${method} ${url}`
}

/** Whether an endpoint is at an operation's address, whose path may have `{placeholders}`. */
export function isAtAddress(template: string, endpoint: string): boolean {
  const path = (url: string) => url.replace(/^https?:\/\/[^/?#]+/, '').replace(/[?#].*$/, '') || '/'
  const [own, requested] = [path(template).split('/'), path(endpoint).split('/')]
  return (
    own.length === requested.length &&
    own.every((part, at) => part === requested[at] || /^\{[^{}]+\}$/.test(part))
  )
}

/** A seller's text on one line, with its Markdown escaped. */
export function toInertMarkdown(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#|!]/g, (mark) => `\\${mark}`)
}
