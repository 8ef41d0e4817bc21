import { SEARCH_FIELDS, termSaturation } from '../domain/search/search-rank.ts'
import { type ByteList, createByteList } from './byte-list.ts'
import {
  type Collected,
  FREQUENCY_BITS,
  frequencyIn,
  type Statistics,
} from './collected-postings.ts'
import { countingSort } from './counting-sort.ts'
import { createNumberList } from './number-list.ts'
import { allocateNumbers } from './number-memory.ts'
import { PADDING_BYTES, type PostingPlaces, TERMS_A_BLOCK } from './posting-places.ts'
import { createSaturationPalette } from './saturation-palette.ts'
import { type SortedTerms, sortTerms } from './sorted-terms.ts'

/**
 * Which rows hold a term and how often, in bytes (`posting-cursor.ts` and `block-scores.ts` read
 * them). For each term: twice the number of rows as a varint, plus one if its document frequencies
 * in the three fields follow, as varints. Then, for each row, the distance to the one before, as a
 * varint, and a palette number, seven bits or, with the high bit set, fifteen.
 */
export interface Postings {
  terms: SortedTerms
  places: PostingPlaces
  /** Saturations in name, labels and summary, three for each palette number. */
  palette: Float32Array
  /** Saturation of a term that stands once in a row's name; for ids and for words held together. */
  nameSaturations: Float32Array
  /** How many rows hold each term. */
  counts: Uint32Array
  /** Rows the document frequencies were taken over. */
  scoredRows: number
}

/** Of so few rows the document frequencies are counted when they are needed. */
export const COUNTED_ROWS = 8
/** Distances of three bytes and palette numbers of two are all a reader expects. */
const MAX_ROWS = 2 ** 21
const MAX_PALETTE = 2 ** 15
const LONGEST_LENGTH = 255

/**
 * Terms in order, their rows ascending as they were added.
 * @throws Error when there are more rows than the format can number
 */
export function writePostings(collected: Collected, statistics: Statistics): Postings {
  if (collected.rows > MAX_ROWS) {
    throw new Error(`${collected.rows} listings: the search index can number ${MAX_ROWS} at most.`)
  }
  const { starts, order } = countingSort(collected.termOf.values(), collected.lexicon.size())
  const { terms, numbers } = sortTerms(collected.lexicon, termsThatStart(starts))
  const { codes, palette } = codesOf(collected, statistics)
  return {
    terms,
    places: writeRuns(numbers, {
      starts,
      postings: order,
      rowOf: collected.rowOf.values(),
      frequenciesOf: collected.frequenciesOf.values(),
      statistics,
      codes,
    }),
    palette,
    nameSaturations: nameSaturationsOf(collected, statistics),
    counts: numbers.map((term) => (starts[term + 1] ?? 0) - (starts[term] ?? 0)),
    scoredRows: statistics.rows,
  }
}

/** The terms that have postings. @param starts see `Scored` */
function termsThatStart(starts: Uint32Array): Uint32Array {
  const terms = createNumberList()
  for (let term = 0; term + 1 < starts.length; term += 1) {
    if (starts[term] !== starts[term + 1]) terms.push(term)
  }
  return terms.values()
}

/** Terms and postings by their numbers, postings counted in the order they were added. */
interface Scored {
  /** Where those of each term start in `postings`. */
  starts: Uint32Array
  /** By term, and then as they were added. */
  postings: Uint32Array
  rowOf: Uint32Array
  /** How often each posting holds its term, see `Collected`. */
  frequenciesOf: Uint32Array
  statistics: Statistics
  /** The palette number of each posting. */
  codes: Uint32Array
}

/**
 * Lays out the run of each term as `PostingPlaces` says.
 * @param numbers of the terms in order
 */
function writeRuns(numbers: Uint32Array, scored: Scored): PostingPlaces {
  const long = createByteList()
  const short = createByteList()
  const lengths = new Uint8Array(numbers.length)
  const blocks = new Uint32Array(Math.ceil(numbers.length / TERMS_A_BLOCK))
  for (let at = 0; at < numbers.length; at += 1) {
    const start = short.length()
    if (at % TERMS_A_BLOCK === 0) blocks[at / TERMS_A_BLOCK] = start
    writeRun(short, numbers[at] ?? 0, scored)
    if (short.length() - start > LONGEST_LENGTH) {
      const place = long.length()
      long.pushBytes(short.takeFrom(start))
      short.pushVarint(0)
      short.pushVarint(place)
    }
    lengths[at] = short.length() - start
  }
  const bytes = new Uint8Array(long.length() + short.length() + PADDING_BYTES)
  bytes.set(long.values())
  bytes.set(short.values(), long.length())
  return { bytes, lengths, blocks: blocks.map((start) => start + long.length()) }
}

function writeRun(bytes: ByteList, term: number, scored: Scored): void {
  const { starts, postings, rowOf, codes, statistics } = scored
  const first = starts[term] ?? 0
  const end = starts[term + 1] ?? 0
  const explicit = end - first > COUNTED_ROWS || !areCounted(term, scored)
  bytes.pushVarint((end - first) * 2 + Number(explicit))
  if (explicit) {
    for (const field of SEARCH_FIELDS) bytes.pushVarint(statistics.documentFrequency(field, term))
  }
  let row = 0
  for (let at = first; at < end; at += 1) {
    const posting = postings[at] ?? 0
    const next = rowOf[posting] ?? 0
    bytes.pushVarint(next - row)
    pushCode(bytes, codes[posting] ?? 0)
    row = next
  }
}

function pushCode(bytes: ByteList, code: number): void {
  if (code < 0x80) {
    bytes.pushByte(code)
    return
  }
  bytes.pushByte(0x80 | (code & 0x7f))
  bytes.pushByte(code >>> 7)
}

/** Whether the document frequencies are what these postings give; not so for our own rows. */
function areCounted(
  term: number,
  { starts, postings, frequenciesOf, statistics }: Scored,
): boolean {
  const end = starts[term + 1] ?? 0
  let shift = 0
  for (const field of SEARCH_FIELDS) {
    let count = 0
    for (let at = starts[term] ?? 0; at < end; at += 1) {
      if (frequencyIn(frequenciesOf[postings[at] ?? 0] ?? 0, shift) > 0) count += 1
    }
    if (count !== statistics.documentFrequency(field, term)) return false
    shift += FREQUENCY_BITS
  }
  return true
}

function nameSaturationsOf({ lengths, rows }: Collected, { averageLength }: Statistics) {
  return Float32Array.from({ length: rows }, (_, row) =>
    termSaturation(1, lengths.name[row] ?? 0, averageLength.name),
  )
}

/** The palette, and the number in it of each posting, in the order they were added. */
function codesOf(collected: Collected, statistics: Statistics) {
  const palette = createSaturationPalette(collected, statistics)
  const frequencies = collected.frequenciesOf.values()
  const rowOf = collected.rowOf.values()
  const codes = allocateNumbers(frequencies.length)
  for (let at = 0; at < codes.length; at += 1) {
    codes[at] = palette.codeOf(frequencies[at] ?? 0, rowOf[at] ?? 0)
  }
  const ranks = palette.rank()
  if (ranks.length > MAX_PALETTE) {
    throw new Error(
      `The search index has ${ranks.length} different combinations of term frequencies and field lengths; it can number ${MAX_PALETTE} at most.`,
    )
  }
  for (let at = 0; at < codes.length; at += 1) codes[at] = ranks[codes[at] ?? 0] ?? 0
  return { codes, palette: palette.values() }
}
