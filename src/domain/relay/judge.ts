import { parseJson } from '../wire/json.ts'
import type { DeliveryVerdict } from '../wire/vocabulary.ts'
import {
  type DeclaredResponse,
  findDeclaredFault,
  findErrorSign,
  isNothing,
} from './declared-answer.ts'

export interface Judgement {
  verdict: DeliveryVerdict
  /** A sentence made of our own words, types, and names from the declaration; it quotes no part of the answer. */
  reason: string
}

/** The part of an answer that arrived. */
export interface DeliveredAnswer {
  /** Null if no answer came. */
  status: number | null
  /**
   * `cut`: its sender stopped early; `foreign`: in a content coding that the caller did not ask for; `unread`: too
   * large, or in an unsupported coding.
   */
  end: 'whole' | 'cut' | 'foreign' | 'unread'
  /** The answer's body, decompressed; useless if the answer is incomplete. */
  body: Uint8Array
}
/** Up to this size a JSON answer is parsed as a whole (bytes). */
const MAX_PARSED = 32 * 1024
/** How much is read of a long answer that cannot be parsed as JSON: its first events, or its markup (bytes). */
const HEAD_BYTES = 16 * 1024
/** How many of a stream's events are checked. */
const MAX_EVENTS = 20
/** An error sent in place of an image or a text is shorter than this. */
const MAX_ERROR_BYTES = 4096
/** Longest white space that is scanned (bytes). */
const MAX_BLANK = 4096

const AS_DECLARED: Judgement = { verdict: 'as_declared', reason: 'The answer is as declared.' }

/**
 * Judges an answer by its operation's declaration. In doubt an answer passes: a seller is only
 * blamed for an answer that is certainly not what it declared.
 *
 * Known limit: invented values in the right shape pass. So does the answer to another question,
 * because no other caller's answer is remembered.
 */
export function judgeDelivery(declared: DeclaredResponse, answer: DeliveredAnswer): Judgement {
  const { status, end, body } = answer
  if (status === null) return toJudgement('cut_off', 'The connection ended before an answer.')
  if (status === 402) return toJudgement('payment_asked_again', 'The paid call got status 402.')
  if (status < 200 || status > 299)
    return toJudgement('refused', `The paid call got status ${status}.`)
  if (end === 'cut') return toJudgement('cut_off', 'The connection ended before the answer did.')
  if (end === 'foreign')
    return toJudgement('other_shape', 'The answer is in a content coding that was not requested.')
  if (end === 'unread')
    return toJudgement('too_large_to_judge', 'The answer is too large, or oddly compressed.')
  if (body.length === 0 || isBlank(body)) return toJudgement('empty', 'The answer has no content.')
  return isJsonType(declared.content_type)
    ? judgeJson(declared, answer)
    : judgeMedia(declared, answer)
}

function judgeJson(declared: DeclaredResponse, { body }: DeliveredAnswer): Judgement {
  const isLong = body.length > MAX_PARSED
  const whole = isLong ? undefined : parseJson(toText(body))
  if (whole !== undefined) return judgeValue(declared, whole)
  const read = condenseJson(body)
  // A short answer was already parsed as a whole.
  const value = isLong && read !== null ? parseJson(toText(read.json)) : undefined
  if (read !== null && value !== undefined) return judgeValue(declared, value, read.isComplete)
  const head = toText(isLong ? body.subarray(0, HEAD_BYTES) : body)
  const events = readEvents(head)
  if (events.length > 0) return judgeEvents(declared, events)
  const isBegun = /^\s*[[{]/.test(head)
  if (isBegun && read === null)
    return toJudgement('too_large_to_judge', 'The answer has too many values to judge.')
  if (isBegun && read?.isOpen === true)
    return toJudgement('cut_off', 'The JSON ends in the middle.')
  const sign = findErrorSign(declared, head)
  if (sign !== null) return toJudgement('error_in_200', sign)
  return toJudgement('other_shape', `Expected JSON, got ${/^\s*</.test(head) ? 'markup' : 'text'}.`)
}

/** @param isComplete false if an omitted part of the answer may contain values */
function judgeValue(declared: DeclaredResponse, value: unknown, isComplete = true): Judgement {
  const sign = findErrorSign(declared, value)
  if (sign !== null) return toJudgement('error_in_200', sign)
  if (isComplete && isNothing(declared, value))
    return toJudgement('empty', 'No declared member has a value.')
  const fault = findDeclaredFault(declared, value)
  return fault === null ? AS_DECLARED : toJudgement('other_shape', fault)
}

/** A stream is as declared if one of its events is: it is unknown how its pieces combine. */
function judgeEvents(declared: DeclaredResponse, events: readonly unknown[]): Judgement {
  const judged = events.map((event) => judgeValue(declared, event))
  if (judged.some(({ verdict }) => verdict === 'as_declared')) return AS_DECLARED
  const error = judged.find(({ verdict }) => verdict === 'error_in_200')
  if (error !== undefined) return error
  const [first] = judged
  if (first !== undefined && judged.every(({ verdict }) => verdict === 'empty')) return first
  return toJudgement('too_large_to_judge', 'The answer came in pieces, none as declared.')
}

function judgeMedia(declared: DeclaredResponse, answer: DeliveredAnswer): Judgement {
  const text = toText(answer.body.subarray(0, MAX_ERROR_BYTES))
  const isShort = answer.body.length <= MAX_ERROR_BYTES
  const value = isShort ? (parseJson(text) ?? text) : null
  const sign = value === null ? null : findErrorSign(declared, value)
  if (sign !== null) return toJudgement('error_in_200', sign)
  const fault = findMediaFault(declared.content_type, answer)
  if (fault === null) return AS_DECLARED
  return toJudgement(fault.isCut ? 'cut_off' : 'other_shape', fault.text)
}

export function isJsonType(contentType: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(contentType)
}

function toJudgement(verdict: DeliveryVerdict, reason: string): Judgement {
  return { verdict, reason }
}

/** Decodes UTF-16 by its byte order mark, and everything else as UTF-8 with replacement characters. */
function toText(body: Uint8Array): string {
  const [first, second] = body
  return (first === 0xff && second === 0xfe ? UTF_16 : UTF_8).decode(body)
}

// Made once: creating a decoder takes longer than reading a short answer with it.
const [UTF_8, UTF_16] = [new TextDecoder(), new TextDecoder('utf-16le')]

/** JSON line by line, or in the `data:` lines of server-sent events. */
function readEvents(text: string): unknown[] {
  const lines = text.split('\n', MAX_EVENTS * 4).map((line) => line.replace(/^data:/, '').trim())
  const values = lines.filter((line) => /^[[{]/.test(line)).map(parseJson)
  const events = values.filter((value) => value !== undefined).slice(0, MAX_EVENTS)
  // Several lines are a stream even if one is broken; a single piece of broken JSON is not.
  return events.length > 1 || /^(?:data|event|id|retry|):/.test(text) ? events : []
}

function isBlank(body: Uint8Array): boolean {
  const [first = 0] = body
  const isVisible = first > 0x20 && first < 0x7f
  return !isVisible && body.length <= MAX_BLANK && toText(body).trim() === ''
}

/** First bytes of files, in hex; a dot is any digit. After a bar: the last bytes of a complete file. */
const IMAGES = kindsIn(`
  89504e470d0a|49454e44 ffd8ff|ffd9 47494638 52494646........57454250 424d 49492a00 4d4d002a
  00000100 ........66747970 ff0a 38425053
`)
const AUDIO = kindsIn(`
  494433 fffb fff3 fff2 fffa fff1 fff9 4f676753 664c6143 52494646........57415645
  464f524d........41494646 2321414d52 ........66747970 1a45dfa3
`)
const VIDEO = kindsIn(`
  ........66747970 ........6d6f6f76 1a45dfa3 52494646........41564920 4f676753 464c56 000001b. 47
`)

function kindsIn(text: string): string[] {
  return text.trim().split(/\s+/)
}

/** If one kind in a family is declared, any other kind in it is accepted: a WebP instead of a PNG is an image too. */
const FAMILIES = new Map([
  ['image', IMAGES],
  ['audio', AUDIO],
  ['video', VIDEO],
  ['application/pdf', ['255044462d|2525454f46']],
  ['application/zip', ['504b0304|504b0506', '504b0506']],
  ['application/gzip', ['1f8b']],
])

/** Enough for the first bytes of every kind. */
const KIND_BYTES = 512
/** Enough for a zip's comment, or for what programs append to a PDF. */
const TAIL_BYTES = 2048

/** Why an answer of text or bytes is not as declared; null if it is as declared. */
function findMediaFault(
  declared: string,
  { body }: Pick<DeliveredAnswer, 'body'>,
): { isCut: boolean; text: string } | null {
  const kinds = FAMILIES.get(declared) ?? FAMILIES.get(declared.split('/')[0] ?? '')
  const head = toHex(body.subarray(0, KIND_BYTES))
  const text = new TextDecoder('latin1').decode(body.subarray(0, KIND_BYTES))
  const isDrawing = declared.startsWith('image/') && /<svg\b/i.test(text)
  if (isDrawing) return null
  if (kinds !== undefined) return findKindFault(declared, kinds, head, body)
  const isPage = /^(?:ï»¿)?\s*<(?:!doctype html|html\b)/i.test(text)
  if (isPage && !/html|xml/.test(declared))
    return { isCut: false, text: `Expected ${declared}, got a web page.` }
  return null
}

function findKindFault(declared: string, kinds: readonly string[], head: string, body: Uint8Array) {
  const kind = kinds.find((each) => begins(head, each.split('|')[0] ?? ''))
  if (kind === undefined)
    return { isCut: false, text: `Expected ${declared}, got bytes of another type.` }
  const end = kind.split('|')[1] ?? ''
  const isCut = !toHex(body.subarray(-TAIL_BYTES)).includes(end)
  return isCut ? { isCut, text: `The ${declared} ends in the middle.` } : null
}

function begins(hex: string, pattern: string): boolean {
  return [...pattern].every((digit, at) => digit === '.' || digit === hex[at])
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const MAX_ITEMS = 20
/** How many bytes of one text are kept. */
const MAX_TEXT = 2_000
/** The most bytes in the whole result, and its deepest nesting. */
const MAX_KEPT = 64 * 1024
const MAX_DEPTH = 64
/** `\u` and its four digits: a text is never cut inside an escape. */
const ESCAPE_BYTES = 6

/**
 * A long JSON answer reduced to what is checked: the first entries of each list, and the beginning
 * of each text. It reads bytes and never makes a string or value of the whole: otherwise a
 * one-megabyte answer would take five megabytes of memory.
 *
 * Known limit: omitted parts are not checked, except for brackets and quotes.
 *
 * @returns null if the answer is nested too deeply, or the result is too long
 */
export function condenseJson(bytes: Uint8Array) {
  const kept = new Uint8Array(Math.min(bytes.length, MAX_KEPT))
  const place: Place = {
    items: new Int32Array(MAX_DEPTH + 1),
    ...{ depth: 0, cutIn: 0 },
    ...{ inText: false, textAt: 0, escapeAt: -ESCAPE_BYTES, isTextCut: false },
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
    kept[size] = code
    size += 1
  }
  return {
    json: kept.subarray(0, size),
    /** Whether nothing was omitted. */
    isComplete: size === bytes.length,
    /** Whether the JSON ends inside a text or a bracket. */
    isOpen: place.inText || place.depth > 0,
  }
}

/** The position of a byte in the JSON. */
interface Place {
  /** The number of entries so far in the open list at each depth; below 0 for an object. Allocated once. */
  items: Int32Array
  depth: number
  /** Depth of the list whose entries are being dropped; 0 outside such a list. */
  cutIn: number
  inText: boolean
  textAt: number
  escapeAt: number
  isTextCut: boolean
}

/** The initial number for an object: so low that counting its commas never reaches 0. */
const IS_OBJECT = -(2 ** 30)

function readText(place: Place, code: number, at: number): void {
  // A character after a backslash cannot end a text.
  if (at === place.escapeAt + 1) return
  if (code === BACKSLASH) place.escapeAt = at
  else if (code === QUOTE) {
    place.inText = false
    place.isTextCut = false
    return
  }
  const isBetween = (code & 0xc0) !== 0x80 && at - place.escapeAt >= ESCAPE_BYTES
  if (at - place.textAt > MAX_TEXT && isBetween) place.isTextCut = true
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
    if (place.cutIn === 0 && count > MAX_ITEMS) place.cutIn = place.depth
  }
}

const [QUOTE, BACKSLASH, COMMA] = [34, 92, 44]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]
