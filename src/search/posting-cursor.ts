import { FIELD_WEIGHTS, inverseDocumentFrequency } from '../domain/search-rank.ts'
import type { AnywhereScores } from './anywhere-scores.ts'
import { findPostings, type PostingRun, varintAt, varintBytes } from './posting-places.ts'
import type { TermIndex } from './term-index.ts'

/** A place in the postings of one term, which lie as `Postings` says. */
export interface PostingCursor {
  bytes: Uint8Array
  /** Where the palette number of the posting at `row` starts. */
  at: number
  /** The row of the next posting; `NO_ROW` behind the last one. */
  row: number
  /** Postings that are left, with the one at `row`. */
  left: number
  /** The bit of the thing asked for that this term stands for; 0 for none. */
  bit: number
  palette: Float32Array
  /** Weight × idf of the term in name, labels and summary. */
  name: number
  labels: number
  summary: number
  /** What each of the first `known` palette numbers scores. */
  scores: Float64Array
  known: number
  /** What each row that holds the term scores besides, wherever it holds it; null for nothing. */
  anywhere: AnywhereScores | null
}

export const NO_ROW = 0x7fffffff

/** Palette numbers are given by use: so many make up nearly all postings of a term. */
const SHORT_TABLE = 128
const LONG_TABLE = 1024
/** From so many rows on a table pays, and a long one. */
const SHORT_RUN = 64
const LONG_RUN = 2048
const FIELDS = 3
/** Document frequencies of the term being opened, in name, labels and summary. */
const frequencies = new Uint32Array(FIELDS)
const NO_PALETTE = new Float32Array(0)
/** Palette number 0, then bytes that are read and mean nothing. */
const ONE_POSTING = Uint8Array.of(0, 0, 0)

/** A table for each cursor of a search, kept for the next search. */
const tables: Float64Array[] = []

/**
 * @param number of a term of `index`
 * @param bit of the thing asked for that it stands for
 * @param slot a number of its own for each cursor of a search, from 0
 */
export function openPostings(
  index: TermIndex,
  number: number,
  bit: number,
  slot: number,
): PostingCursor {
  const run = findPostings(index.postings, number)
  if (run.explicit) readFrequencies(index.postings.bytes, run)
  else countFrequencies(index, run)
  const cursor = startCursor(index, run, bit, slot)
  const weigh = (weight: number, field: number) =>
    weight * inverseDocumentFrequency(index.scoredRows, frequencies[field] ?? 0)
  cursor.name = weigh(FIELD_WEIGHTS.name, 0)
  cursor.labels = weigh(FIELD_WEIGHTS.labels, 1)
  cursor.summary = weigh(FIELD_WEIGHTS.summary, 2)
  for (let code = 0; code < cursor.known; code += 1) cursor.scores[code] = weighCode(cursor, code)
  return cursor
}

/** As `openPostings`, for a term that finds rows and scores nothing for the fields it stands in. */
export function openSilent(
  index: TermIndex,
  number: number,
  bit: number,
  slot: number,
): PostingCursor {
  const run = findPostings(index.postings, number)
  if (run.explicit) readFrequencies(index.postings.bytes, run)
  const cursor = startCursor(index, run, bit, slot)
  cursor.scores.fill(0, 0, cursor.known)
  return cursor
}

/** A cursor at the first posting of a run, whose term weighs nothing yet. */
function startCursor(
  { palette, postings: { bytes } }: TermIndex,
  { at: start, rows: left }: PostingRun,
  bit: number,
  slot: number,
): PostingCursor {
  const row = varintAt(bytes, start)
  const at = start + varintBytes(row)
  const scores = takeTable(slot)
  const known = Math.min(tableSize(left), palette.length / FIELDS)
  const weights = { name: 0, labels: 0, summary: 0 }
  return { bytes, at, row, left, bit, palette, ...weights, scores, known, anywhere: null }
}

function tableSize(rows: number): number {
  if (rows < SHORT_RUN) return 0
  return rows < LONG_RUN ? SHORT_TABLE : LONG_TABLE
}

/** Reads the three document frequencies of a run, and moves it on to its postings. */
function readFrequencies(bytes: Uint8Array, run: PostingRun): void {
  for (let field = 0; field < FIELDS; field += 1) {
    const frequency = varintAt(bytes, run.at)
    run.at += varintBytes(frequency)
    frequencies[field] = frequency
  }
}

/** Counts how many rows of a short run hold the term in each field. */
function countFrequencies({ postings: { bytes }, palette }: TermIndex, run: PostingRun): void {
  frequencies.fill(0)
  let { at } = run
  for (let left = run.rows; left > 0; left -= 1) {
    at += varintBytes(varintAt(bytes, at))
    const byte = bytes[at] ?? 0
    const code = byte < 0x80 ? byte : (byte & 0x7f) | ((bytes[at + 1] ?? 0) << 7)
    at += byte < 0x80 ? 1 : 2
    for (let field = 0; field < FIELDS; field += 1) {
      if ((palette[code * FIELDS + field] ?? 0) > 0)
        frequencies[field] = (frequencies[field] ?? 0) + 1
    }
  }
}

/** A term that one row holds, with this score. */
export function openSingle(row: number, score: number, slot: number): PostingCursor {
  const scores = takeTable(slot)
  scores[0] = score
  return {
    bytes: ONE_POSTING,
    at: 0,
    row,
    left: 1,
    bit: 0,
    palette: NO_PALETTE,
    name: 0,
    labels: 0,
    summary: 0,
    scores,
    known: 1,
    anywhere: null,
  }
}

function takeTable(slot: number): Float64Array {
  const table = tables[slot] ?? new Float64Array(LONG_TABLE)
  tables[slot] = table
  return table
}

/** The text score of a palette number. */
export function weighCode(cursor: PostingCursor, code: number): number {
  const { palette, name, labels, summary } = cursor
  const place = code * FIELDS
  return (
    name * (palette[place] ?? 0) +
    labels * (palette[place + 1] ?? 0) +
    summary * (palette[place + 2] ?? 0)
  )
}
