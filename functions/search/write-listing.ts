import { MAX_ID_LENGTH } from '../../src/domain/listing/listing-id.ts'
import { RELEVANCE_STEPS } from '../../src/domain/search/search-rank.ts'
import { toBytes } from '../http/to-bytes.ts'

const ZERO = 0x30

const POINT = 0x2e

const DECIMALS = Math.log10(RELEVANCE_STEPS)

/** Up to here a number of steps is exact, and so are its digits. */
const MAX_NUMBER = 1e9

const GO = toBytes(',"go":"/go/')
const AFTER_LINKS = toBytes('"},"relevance":')
const CLOSING_BRACE = 0x7d

/** The most a listing grows by: its id, a search id with a position, two numbers, punctuation. */
export const ADDED_BYTES = MAX_ID_LENGTH + 160

/** What a listing of a response has at its end that its prepared bytes lack. */
export interface ListingEnding {
  /** ASCII that needs no escaping in JSON. */
  id: Uint8Array
  relevance: number
  /** `?sid=…`, up to where the position stands. */
  searchId: Uint8Array
  /** `&src=…`: who shows the link. */
  source: Uint8Array
  /** Members behind `relevance`, each with a comma before it. */
  more: Uint8Array
  /** Counts from 1; 0 for a link without a position. */
  position: number
}

/**
 * Writes `links.go`, `relevance` and what was asked for beside them, in the place of the brackets
 * that a body ends with. Plain loops: for a few bytes each, they are quicker than making a string
 * and encoding it.
 *
 * @returns where the next byte goes
 */
export function writeEnding(
  memory: Uint8Array,
  start: number,
  { id, relevance, searchId, position, source, more }: ListingEnding,
): number {
  memory.set(GO, start)
  let at = start + GO.length
  for (let i = 0; i < id.length; i += 1) memory[at + i] = id[i] ?? 0
  at += id.length
  memory.set(searchId, at)
  at += searchId.length
  if (position > 0) at = writeNumber(memory, at, position)
  memory.set(source, at)
  memory.set(AFTER_LINKS, at + source.length)
  at = writeNumber(memory, at + source.length + AFTER_LINKS.length, relevance)
  memory.set(more, at)
  at += more.length
  memory[at] = CLOSING_BRACE
  return at + 1
}

/**
 * Writes a number as JSON does. Numbers of a response are whole, or a multiple of a step of
 * relevance: their digits are counted out. Any other is left to the engine.
 *
 * @returns where the next byte goes
 */
function writeNumber(memory: Uint8Array, at: number, number: number): number {
  const steps = Math.round(number * RELEVANCE_STEPS)
  if (!(number >= 0 && number <= MAX_NUMBER) || steps / RELEVANCE_STEPS !== number)
    return writeText(memory, at, JSON.stringify(number))
  const whole = Math.floor(number)
  const end = writeDigits(memory, at, whole, countDigits(whole))
  const fraction = steps - whole * RELEVANCE_STEPS
  return fraction === 0 ? end : writeFraction(memory, end, fraction)
}

/** Trailing zeros are not written. */
function writeFraction(memory: Uint8Array, at: number, fraction: number): number {
  let decimals = DECIMALS
  let rest = fraction
  while (rest % 10 === 0) {
    rest /= 10
    decimals -= 1
  }
  memory[at] = POINT
  return writeDigits(memory, at + 1, rest, decimals)
}

function writeDigits(memory: Uint8Array, at: number, number: number, digits: number): number {
  let rest = number
  for (let place = at + digits - 1; place >= at; place -= 1) {
    const tenth = Math.floor(rest / 10)
    memory[place] = ZERO + rest - tenth * 10
    rest = tenth
  }
  return at + digits
}

function countDigits(number: number): number {
  let digits = 1
  for (let power = 10; power <= number; power *= 10) digits += 1
  return digits
}

function writeText(memory: Uint8Array, at: number, text: string): number {
  const bytes = toBytes(text)
  memory.set(bytes, at)
  return at + bytes.length
}
