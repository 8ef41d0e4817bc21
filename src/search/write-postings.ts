import { SEARCH_FIELDS, termSaturation } from '../domain/search-rank.ts'
import { type ByteList, createByteList } from './byte-list.ts'
import {
  type Collected,
  FREQUENCY_BITS,
  frequencyIn,
  type Statistics,
} from './collected-postings.ts'
import { PADDING_BYTES, type PostingPlaces, TERMS_A_BLOCK } from './posting-places.ts'
import { createSaturationPalette, type SaturationPalette } from './saturation-palette.ts'
import { type SortedPostings, sortByTerm } from './sort-by-term.ts'

/**
 * Which rows hold a term and how often, in bytes (`posting-cursor.ts` and `block-scores.ts` read
 * them). For each term: twice the number of rows as a varint, plus one if its document frequencies
 * in the three fields follow, as varints. Then, for each row, the distance to the one before, as a
 * varint, and a palette number, seven bits or, with the high bit set, fifteen.
 */
export interface Postings {
  terms: readonly string[]
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
  const terms = [...collected.numbers.keys()].sort()
  const sorted = sortByTerm(
    {
      numbers: collected.numbers,
      termOf: collected.termOf.values(),
      rowOf: collected.rowOf.values(),
    },
    terms,
  )
  const palette = createSaturationPalette(
    SEARCH_FIELDS.map((field) => statistics.averageLength[field]),
  )
  const codes = codesOf(collected, sorted, palette)
  const ranks = palette.rank()
  if (ranks.length > MAX_PALETTE) {
    throw new Error(
      `The search index has ${ranks.length} different combinations of term frequencies and field lengths; it can number ${MAX_PALETTE} at most.`,
    )
  }
  const packed = collected.frequenciesOf.values()
  const codeOf = (posting: number) => ranks[codes[posting] ?? 0] ?? 0
  return {
    terms,
    places: writeRuns({ terms, sorted, statistics, packed, codeOf }),
    palette: palette.values(),
    nameSaturations: nameSaturationsOf(collected, statistics),
    counts: Uint32Array.from(terms, (_, at) => rowsAt(sorted, at)),
    scoredRows: statistics.rows,
  }
}

interface Scored {
  terms: readonly string[]
  sorted: SortedPostings
  statistics: Statistics
  /** How often each posting holds its term, see `Collected`. */
  packed: Uint32Array
  codeOf: (posting: number) => number
}

function rowsAt({ starts }: SortedPostings, term: number): number {
  return (starts[term + 1] ?? 0) - (starts[term] ?? 0)
}

/** Lays out the run of each term as `PostingPlaces` says. */
function writeRuns(scored: Scored): PostingPlaces {
  const { terms } = scored
  const long = createByteList()
  const short = createByteList()
  const lengths = new Uint8Array(terms.length)
  const blocks = new Uint32Array(Math.ceil(terms.length / TERMS_A_BLOCK))
  for (let term = 0; term < terms.length; term += 1) {
    const start = short.length()
    if (term % TERMS_A_BLOCK === 0) blocks[term / TERMS_A_BLOCK] = start
    writeRun(short, term, scored)
    if (short.length() - start > LONGEST_LENGTH) {
      const place = long.length()
      long.pushBytes(short.takeFrom(start))
      short.pushVarint(0)
      short.pushVarint(place)
    }
    lengths[term] = short.length() - start
  }
  const bytes = new Uint8Array(long.length() + short.length() + PADDING_BYTES)
  bytes.set(long.values())
  bytes.set(short.values(), long.length())
  return { bytes, lengths, blocks: blocks.map((start) => start + long.length()) }
}

function writeRun(
  bytes: ByteList,
  term: number,
  { terms, sorted, statistics, packed, codeOf }: Scored,
): void {
  const first = sorted.starts[term] ?? 0
  const rows = rowsAt(sorted, term)
  const postings = sorted.postings.subarray(first, first + rows)
  const frequencies = SEARCH_FIELDS.map((field) =>
    statistics.documentFrequency(field, terms[term] ?? ''),
  )
  const explicit = rows > COUNTED_ROWS || !areCounted(packed, postings, frequencies)
  bytes.pushVarint(rows * 2 + Number(explicit))
  if (explicit) for (const frequency of frequencies) bytes.pushVarint(frequency)
  let row = 0
  for (const posting of postings) {
    bytes.pushVarint((sorted.rowOf[posting] ?? 0) - row)
    pushCode(bytes, codeOf(posting))
    row = sorted.rowOf[posting] ?? 0
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
  packed: Uint32Array,
  postings: Uint32Array,
  frequencies: readonly number[],
): boolean {
  return frequencies.every((frequency, field) => {
    let count = 0
    for (const posting of postings) {
      if (frequencyIn(packed[posting] ?? 0, field * FREQUENCY_BITS) > 0) count += 1
    }
    return count === frequency
  })
}

function nameSaturationsOf({ lengths, rows }: Collected, { averageLength }: Statistics) {
  return Float32Array.from({ length: rows }, (_, row) =>
    termSaturation(1, lengths.name[row] ?? 0, averageLength.name),
  )
}

/** The palette number of each posting, in the order they were added. */
function codesOf(
  { frequenciesOf, lengths }: Collected,
  { rowOf }: SortedPostings,
  palette: SaturationPalette,
): Uint32Array {
  const packed = frequenciesOf.values()
  const codes = new Uint32Array(packed.length)
  for (let at = 0; at < packed.length; at += 1) {
    const row = rowOf[at] ?? 0
    const frequencies = SEARCH_FIELDS.map((_, field) =>
      frequencyIn(packed[at] ?? 0, field * FREQUENCY_BITS),
    )
    codes[at] = palette.codeOf(
      frequencies,
      SEARCH_FIELDS.map((field) => lengths[field][row] ?? 0),
    )
  }
  return codes
}
