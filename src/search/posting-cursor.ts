import { FIELD_WEIGHTS, inverseDocumentFrequency } from '../domain/search/search-rank.ts'
import type { AnywhereScores } from './anywhere-scores.ts'
import { createTables } from './create-tables.ts'
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

const takeTable = createTables()

/**
 * @param number of a term of `index`
 * @param bit of the thing asked for that it stands for
 * @param slot a number of its own for each cursor of a search, from 0
 * @param weighed false for a term that finds rows, but scores nothing for the fields it stands in
 */
export function openPostings(
  index: TermIndex,
  number: number,
  bit: number,
  slot: number,
  weighed = true,
): PostingCursor {
  const { palette, scoredRows, postings } = index
  const { bytes } = postings
  const run = findPostings(postings, number)
  const { rows: left } = run
  if (run.explicit) readFrequencies(bytes, run)
  else if (weighed) countFrequencies(index, run)
  const weigh = (weight: number, field: number) =>
    weighed ? weight * inverseDocumentFrequency(scoredRows, frequencies[field] ?? 0) : 0
  const name = weigh(FIELD_WEIGHTS.name, 0)
  const labels = weigh(FIELD_WEIGHTS.labels, 1)
  const summary = weigh(FIELD_WEIGHTS.summary, 2)
  const row = varintAt(bytes, run.at)
  const at = run.at + varintBytes(row)
  const scores = takeTable(slot, LONG_TABLE)
  const known = Math.min(tableSize(left), palette.length / FIELDS)
  const weights = { name, labels, summary }
  const cursor = { bytes, at, row, left, bit, palette, ...weights, scores, known, anywhere: null }
  for (let code = 0; code < known; code += 1) scores[code] = weighCode(cursor, code)
  return cursor
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
  const scores = takeTable(slot, LONG_TABLE)
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
