import { RELEVANCE_STEPS } from '../../src/domain/search/search-rank.ts'
import { toBytes } from '../http/to-bytes.ts'

const ZERO = 0x30
const POINT = 0x2e
const DECIMALS = Math.log10(RELEVANCE_STEPS)
/** Up to here a number of steps is exact, and so are its digits. */
const MAX_NUMBER = 1e9

/**
 * Writes a number as JSON does. Numbers of a response are whole, or a multiple of a step of
 * relevance: their digits are counted out. Any other is left to the engine.
 *
 * @returns where the next byte goes
 */
export function writeNumber(memory: Uint8Array, at: number, number: number): number {
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
