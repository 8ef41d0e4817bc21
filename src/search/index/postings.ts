/**
 * Which rows hold each term, in bytes. For each term: the number of rows, and for each row the
 * distance to the one before, as varints, and a palette number, seven bits or, with the high bit
 * set, fifteen. Where a term's bytes lie takes a byte a term: the length of each, and where each
 * sixteenth starts. What is longer than a byte can say lies in front; its place among the others
 * holds a 0 and, as a varint, where that is.
 */
export interface PostingPlaces {
  bytes: Uint8Array
  lengths: Uint8Array
  blocks: Uint32Array
}

/** The postings of one term: `rows` of them from `at` on. */
export interface PostingRun {
  at: number
  rows: number
}

const BLOCK_BITS = 4
export const TERMS_A_BLOCK = 1 << BLOCK_BITS
/** What a reader may look at behind the last posting. */
export const PADDING_BYTES = 4

/** @param number of a term */
export function findPostings(
  { bytes, lengths, blocks }: PostingPlaces,
  number: number,
): PostingRun {
  const block = number >>> BLOCK_BITS
  let at = blocks[block] ?? 0
  for (let term = block << BLOCK_BITS; term < number; term += 1) at += lengths[term] ?? 0
  if (bytes[at] === 0) at = varintAt(bytes, at + 1)
  const rows = varintAt(bytes, at)
  return { at: at + varintBytes(rows), rows }
}

/** How many rows hold the term of a number; 0 for -1, which is none. */
export function rowsOf({ postings }: { postings: PostingPlaces }, number: number): number {
  return number < 0 ? 0 : findPostings(postings, number).rows
}

/** The number of bytes a varint takes. */
export function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes += 1
  return bytes
}

export function varintAt(bytes: Uint8Array, start: number): number {
  let value = 0
  let at = start
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at] ?? 0
    at += 1
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return value
  }
}
