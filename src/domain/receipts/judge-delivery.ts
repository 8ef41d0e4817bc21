import type { DeliveryVerdict } from '../wire/vocabulary.ts'
import { findMediaFault } from './answer-media.ts'
import { findErrorSign, isNothing } from './answer-signs.ts'
import { condenseJson } from './condense-json.ts'
import { findDeclaredFault } from './declared-shape.ts'
import type { DeclaredResponse, DeliveredAnswer, Judgement } from './delivered-answer.ts'

/** Sizes up to which an answer is judged, in bytes: as it comes, and decompressed. */
export const JUDGED_BYTES = { packed: 256 * 1024, unpacked: 1024 * 1024 } as const
/** Up to this size a JSON answer is parsed as a whole (bytes). */
const MAX_PARSED = 32 * 1024
/** How much is read of a long answer that cannot be parsed as JSON: its first events, or its markup (bytes). */
const HEAD_BYTES = 16 * 1024
/** Events of a stream that are checked. */
const MAX_EVENTS = 20

/**
 * Judges an answer by its operation's declaration. In doubt an answer is right: a seller is only
 * blamed for what is certainly not what it sells, and never for more than it declared.
 *
 * Known limit: invented values in the right shape look like true ones. Only `findCanned` sees some of them.
 *
 * @param onValue called with the value of a JSON answer, and whether it is complete: parsing again
 *   would take its memory twice
 */
export function judgeDelivery(
  declared: DeclaredResponse,
  answer: DeliveredAnswer,
  onValue: OnValue = () => {},
): Judgement {
  const { status, end, body } = answer
  if (status === null) return toJudgement('cut_off', 'The connection ended before an answer.')
  if (status === 402) return toJudgement('payment_asked_again', 'Status 402 for a call that paid.')
  if (status < 200 || status > 299)
    return toJudgement('refused', `Status ${status} for a call that paid.`)
  if (end === 'cut') return toJudgement('cut_off', 'The connection ended inside the answer.')
  if (end === 'foreign')
    return toJudgement('other_shape', 'It is in a content coding that nobody asked for.')
  if (end === 'unread')
    return toJudgement('too_large_to_judge', 'It is too large to judge, or oddly compressed.')
  if (body.length === 0 || isBlank(body)) return toJudgement('empty', 'The answer has no content.')
  return isJsonType(declared.content_type)
    ? judgeJson(declared, answer, onValue)
    : judgeMedia(declared, answer)
}

type OnValue = (value: unknown, isComplete: boolean) => void

function judgeJson(
  declared: DeclaredResponse,
  { body }: DeliveredAnswer,
  onValue: OnValue,
): Judgement {
  const isLong = body.length > MAX_PARSED
  const read = condenseJson(body, { isCut: isLong })
  const value = read === null ? undefined : tryJson(toText(read.json))
  if (read !== null && value !== undefined) {
    onValue(value, read.isComplete)
    return judgeValue(declared, value, read.isComplete)
  }
  const head = toText(isLong ? body.subarray(0, HEAD_BYTES) : body)
  const events = readEvents(head)
  if (events.length > 0) return judgeEvents(declared, events)
  const isBegun = /^\s*[[{]/.test(head)
  if (isBegun && read === null)
    return toJudgement('too_large_to_judge', 'It has too many values to judge.')
  if (isBegun && read?.isOpen === true)
    return toJudgement('cut_off', 'The JSON ends in the middle.')
  const sign = findErrorSign(declared, head)
  if (sign !== null) return toJudgement('error_in_200', sign)
  return toJudgement('other_shape', `Expected JSON, got ${/^\s*</.test(head) ? 'markup' : 'text'}.`)
}

/** @param isComplete otherwise the omitted part may hold values */
function judgeValue(declared: DeclaredResponse, value: unknown, isComplete = true): Judgement {
  const sign = findErrorSign(declared, value)
  if (sign !== null) return toJudgement('error_in_200', sign)
  if (isComplete && isNothing(declared, value))
    return toJudgement('empty', 'Nothing declared has a value.')
  const fault = findDeclaredFault(declared, value)
  return fault === null ? AS_DECLARED : toJudgement('other_shape', fault)
}

/** A stream is as declared where one of its events is; how pieces combine is unknown. */
function judgeEvents(declared: DeclaredResponse, events: readonly unknown[]): Judgement {
  const judged = events.map((event) => judgeValue(declared, event))
  if (judged.some(({ verdict }) => verdict === 'as_declared')) return AS_DECLARED
  const error = judged.find(({ verdict }) => verdict === 'error_in_200')
  if (error !== undefined) return error
  const [first] = judged
  if (first !== undefined && judged.every(({ verdict }) => verdict === 'empty')) return first
  return toJudgement('too_large_to_judge', 'It came in pieces, none of which is as declared.')
}

function judgeMedia(declared: DeclaredResponse, answer: DeliveredAnswer): Judgement {
  const text = toText(answer.body.subarray(0, MAX_ERROR_BYTES))
  const isShort = answer.body.length <= MAX_ERROR_BYTES
  const value = isShort ? (tryJson(text) ?? text) : null
  const sign = value === null ? null : findErrorSign(declared, value)
  if (sign !== null) return toJudgement('error_in_200', sign)
  const fault = findMediaFault(declared.content_type, answer)
  if (fault === null) return AS_DECLARED
  return toJudgement(fault.isCut ? 'cut_off' : 'other_shape', fault.text)
}

/** An error in place of an image or a text is shorter than this. */
const MAX_ERROR_BYTES = 4096

const AS_DECLARED: Judgement = { verdict: 'as_declared', reason: 'It is as declared.' }

function toJudgement(verdict: DeliveryVerdict, reason: string): Judgement {
  return { verdict, reason }
}

export function isJsonType(contentType: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(contentType)
}

/** UTF-16 is rare and has its mark; anything else but UTF-8 becomes replacement characters. */
function toText(body: Uint8Array): string {
  const [first, second] = body
  return (first === 0xff && second === 0xfe ? UTF_16 : UTF_8).decode(body)
}

// Creating a decoder takes longer than reading a short answer with it.
const [UTF_8, UTF_16] = [new TextDecoder(), new TextDecoder('utf-16le')]

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** JSON line by line, or in the `data:` lines of server-sent events. */
function readEvents(text: string): unknown[] {
  const lines = text.split('\n', MAX_EVENTS * 4).map((line) => line.replace(/^data:/, '').trim())
  const values = lines.filter((line) => /^[[{]/.test(line)).map(tryJson)
  const events = values.filter((value) => value !== undefined).slice(0, MAX_EVENTS)
  // One broken line among several is still a stream; a single piece of broken JSON is not.
  return events.length > 1 || /^(?:data|event|id|retry|):/.test(text) ? events : []
}

function isBlank(body: Uint8Array): boolean {
  const [first = 0] = body
  const isVisible = first > 0x20 && first < 0x7f
  return !isVisible && body.length <= MAX_BLANK && toText(body).trim() === ''
}

/** Longest white space that is scanned (bytes). */
const MAX_BLANK = 4096
