import { type ByteList, createByteList } from '../numbers/byte-list.ts'
import { countingSort } from '../numbers/counting-sort.ts'
import { createNumberList } from '../numbers/number-list.ts'
import type { TermLexicon } from '../words/term-lexicon.ts'
import { PADDING_BYTES, type PostingPlaces, TERMS_A_BLOCK } from './postings.ts'
import { type SortedTerms, sortTerms } from './term-dictionary.ts'

/** Postings in the order they were added, by their numbers. */
export interface Scored {
  lexicon: TermLexicon
  termOf: Uint32Array
  rowOf: Uint32Array
  /** The palette number of each. */
  codes: Uint32Array
}

const LONGEST_LENGTH = 255

/** Lays out the postings of all terms in order, as `PostingPlaces` says. */
export function writePostings(scored: Scored): { terms: SortedTerms; places: PostingPlaces } {
  const { lexicon, termOf } = scored
  const { starts, order } = countingSort(termOf, lexicon.size())
  const { terms, numbers } = sortTerms(lexicon, termsThatStart(starts))
  return { terms, places: writeRuns(numbers, { ...scored, starts, order }) }
}

/** The terms that have postings. */
function termsThatStart(starts: Uint32Array): Uint32Array {
  const terms = createNumberList()
  for (let term = 0; term + 1 < starts.length; term += 1) {
    if (starts[term] !== starts[term + 1]) terms.push(term)
  }
  return terms.values()
}

/** Postings by term, and then as they were added; where those of each term start in `order`. */
interface Sorted extends Scored {
  starts: Uint32Array
  order: Uint32Array
}

function writeRuns(numbers: Uint32Array, sorted: Sorted): PostingPlaces {
  const long = createByteList()
  const short = createByteList()
  const lengths = new Uint8Array(numbers.length)
  const blocks = new Uint32Array(Math.ceil(numbers.length / TERMS_A_BLOCK))
  for (let at = 0; at < numbers.length; at += 1) {
    const start = short.length()
    if (at % TERMS_A_BLOCK === 0) blocks[at / TERMS_A_BLOCK] = start
    writeRun(short, numbers[at] ?? 0, sorted)
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

function writeRun(bytes: ByteList, term: number, { starts, order, rowOf, codes }: Sorted): void {
  const first = starts[term] ?? 0
  const end = starts[term + 1] ?? 0
  bytes.pushVarint(end - first)
  let row = 0
  for (let at = first; at < end; at += 1) {
    const posting = order[at] ?? 0
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
