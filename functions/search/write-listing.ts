import { MAX_ID_LENGTH } from '../../src/domain/listing/listing-id.ts'
import { toBytes } from '../http/to-bytes.ts'
import { writeNumber } from './write-number.ts'

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
