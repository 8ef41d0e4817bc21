/**
 * A long JSON answer reduced to what is checked: the first entries of each list, the beginning of
 * each text. Works on the bytes, so that no string or value of the whole is ever made: an answer of
 * a megabyte would take five of memory.
 *
 * Known limit: omitted parts are not checked, except for brackets and quotes.
 */
const MAX_ITEMS = 20
/** Bytes of a text. */
const MAX_TEXT = 2_000
/** Total bytes of the result, and how deep it is nested. */
const MAX_KEPT = 64 * 1024
const MAX_DEPTH = 64
/** `\u` and its four digits: a text is not cut inside these. */
const ESCAPE_BYTES = 6

export interface CondensedJson {
  json: Uint8Array
  /** Nothing was omitted. */
  isComplete: boolean
  /** A text or a bracket is open at its end. */
  isOpen: boolean
}

/**
 * @param isCut false for a short answer: then all of it is kept, unless it is nested too deeply
 * @returns null where that is so, or the result is too long
 */
export function condenseJson(
  bytes: Uint8Array,
  { isCut }: { isCut: boolean },
): CondensedJson | null {
  // A short answer is returned unchanged: allocating a copy took longer than reading it.
  const kept = isCut ? new Uint8Array(Math.min(bytes.length, MAX_KEPT)) : bytes
  const place: Place = {
    items: isCut ? new Int32Array(MAX_DEPTH + 1) : NO_ROOM,
    ...{ depth: 0, cutIn: 0 },
    ...{ inText: false, textAt: 0, escapeAt: -ESCAPE_BYTES, isTextCut: false },
    maxText: isCut ? MAX_TEXT : bytes.length,
    maxItems: isCut ? MAX_ITEMS : bytes.length,
  }
  let size = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at] ?? 0
    if (place.inText) readText(place, code, at)
    else if (code === QUOTE) {
      place.inText = true
      place.textAt = at
    } else readMark(place, code)
    if (place.depth > MAX_DEPTH) return null
    if (place.isTextCut || place.cutIn > 0) continue
    if (size === kept.length) return null
    if (isCut) kept[size] = code
    size += 1
  }
  const isOpen = place.inText || place.depth > 0
  return { json: kept.subarray(0, size), isComplete: size === bytes.length, isOpen }
}

const NO_ROOM = new Int32Array(0)

/** The position of a byte in the JSON. */
interface Place {
  /** Entries so far of each open list; `IS_OBJECT` and more for an object. Allocated once. */
  items: Int32Array
  depth: number
  /** Depth of the list being cut; 0 outside one. */
  cutIn: number
  inText: boolean
  textAt: number
  escapeAt: number
  isTextCut: boolean
  readonly maxText: number
  readonly maxItems: number
}

/** Less than any possible number of commas. */
const IS_OBJECT = -(2 ** 30)

function readText(place: Place, code: number, at: number): void {
  // A character after a backslash ends nothing.
  if (at === place.escapeAt + 1) return
  if (code === BACKSLASH) place.escapeAt = at
  else if (code === QUOTE) {
    place.inText = false
    place.isTextCut = false
    return
  }
  const isBetween = (code & 0xc0) !== 0x80 && at - place.escapeAt >= ESCAPE_BYTES
  if (at - place.textAt > place.maxText && isBetween) place.isTextCut = true
}

function readMark(place: Place, code: number): void {
  const { items } = place
  if (code === OPEN_LIST || code === OPEN_OBJECT) {
    place.depth += 1
    items[place.depth] = code === OPEN_LIST ? 1 : IS_OBJECT
  } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
    if (place.cutIn === place.depth) place.cutIn = 0
    place.depth -= place.depth > 0 ? 1 : 0
  } else if (code === COMMA && place.depth > 0) {
    const count = (items[place.depth] ?? 0) + 1
    items[place.depth] = count
    if (place.cutIn === 0 && count > place.maxItems) place.cutIn = place.depth
  }
}

const [QUOTE, BACKSLASH, COMMA] = [34, 92, 44]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]
