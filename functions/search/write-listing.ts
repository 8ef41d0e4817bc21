import { MAX_ID_LENGTH } from '../../src/domain/listing/listing-id.ts'
import { BODY_START } from '../../src/search/index/search-document.ts'
import { toBytes } from '../http/to-bytes.ts'
import { writeNumber } from './write-number.ts'

/** Every body ends with the closing brackets of `links` and of the summary. */
export const BODY_ENDING_BYTES = 2
const GO = toBytes(',"go":"/go/')
const AFTER_LINKS = toBytes('"},"relevance":')
const CLOSING_BRACE = 0x7d

/** The most a listing grows by: its id, a search id with a position, two numbers, punctuation. */
export const ADDED_BYTES = MAX_ID_LENGTH + 160

/** A listing of a response, before its two members of this search are added. */
export interface ListingToWrite {
  body: Uint8Array
  /** Bytes of the id the body starts with: ASCII that needs no escaping in JSON. */
  idLength: number
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
 * Copies a listing's prepared bytes and adds `links.go` and `relevance`. Plain loops: for a few
 * bytes each, they are quicker than making a string and encoding it.
 *
 * @returns where the next byte goes
 */
export function writeListing(
  memory: Uint8Array,
  start: number,
  { body, idLength, relevance, searchId, position, source, more }: ListingToWrite,
): number {
  memory.set(body, start)
  let at = start + body.length - BODY_ENDING_BYTES
  memory.set(GO, at)
  at = copyId(memory, start + BODY_START.length, at + GO.length, idLength)
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

/** Within the response: the body was just copied there. */
function copyId(memory: Uint8Array, from: number, to: number, length: number): number {
  for (let i = 0; i < length; i += 1) memory[to + i] = memory[from + i] ?? 0
  return to + length
}
