import * as v from 'valibot'
import type { CodedColumn } from './coded-column.ts'
import { filterValues } from './filter-values.ts'
import {
  INDEX_HEADER_BYTES,
  type IndexHead,
  type IndexHeader,
  readIndexHead,
  readIndexHeader,
  SearchIndexError,
  verifyBytes,
} from './index-file.ts'
import type { BodyStore, IndexPart } from './index-part.ts'
import { readBody } from './index-rows.ts'
import type { SearchIndex } from './loaded-index.ts'
import { highestMultiplier } from './standing.ts'
import { countTerms, type TermDictionary } from './term-dictionary.ts'
import { hasShortNumbers } from './word-pairs.ts'

const FactsSchema = v.object({
  categories: v.array(v.string()),
  sources: v.array(v.string()),
  /** Organic rows: what document frequencies were taken over. */
  rows: v.number(),
})

/**
 * Loads an index file that is in memory as a whole, by laying typed arrays on it, and verifies all
 * of it.
 * @throws SearchIndexError when it is damaged, cut short, or of another version
 */
export function loadSearchIndex(file: Uint8Array): SearchIndex {
  const aligned = file.byteOffset % 8 === 0 ? file : file.slice()
  const header = readIndexHeader(aligned)
  verifyLength(header, aligned.byteLength)
  const bodies = aligned.subarray(header.headBytes)
  const index = loadSearchIndexHead(aligned.subarray(0, header.headBytes), header, {
    read: (at, length) => bodies.subarray(at, at + length),
  })
  for (const _step of verifyBodies(index));
  return { ...index, verifyReads: false }
}

/** @throws SearchIndexError when the file was cut short, or something was added to it */
export function verifyLength(header: IndexHeader, bytes: number): void {
  const expected = header.headBytes + header.bodyBytes
  if (bytes === expected) return
  throw new SearchIndexError(
    `The search index is damaged: it has ${bytes} bytes, written were ${expected}. Build it again.`,
  )
}

/** Bodies verified in one step: some hundred KiB, less than a millisecond. */
const BODIES_AT_A_TIME = 512

/**
 * Reads every body once, in short steps: the caller may do something else between two.
 * @throws SearchIndexError at the first damaged one
 */
export function* verifyBodies(index: SearchIndex): Generator<void> {
  for (const part of ['organic', 'firstParty'] as const) {
    for (let row = 0; row < index[part].rows; row += 1) {
      readBody(index, part, row)
      if (row % BODIES_AT_A_TIME === 0) yield
    }
  }
}

/**
 * As `loadSearchIndex`, for a reader that keeps only the head in memory. Bodies are verified one by
 * one as they are read.
 * @param head the first `headBytes` of the file, at an offset that is a multiple of 8
 */
export function loadSearchIndexHead(
  head: Uint8Array,
  header: IndexHeader,
  bodies: BodyStore,
): SearchIndex {
  verifyBytes('head', head.subarray(INDEX_HEADER_BYTES), header.headChecksum)
  const table = readIndexHead(head, header)
  const filters = v.parse(FactsSchema, table.facts)
  const values = filterValues(filters)
  return {
    filters,
    filterPlaces: new Map(values.map((value, at) => [value, at])),
    organic: loadPart(table, 'organic', filters.rows),
    firstParty: loadPart(table, 'firstParty', filters.rows),
    bodies,
    verifyReads: true,
  }
}

function loadPart(table: IndexHead, part: string, scoredRows: number): IndexPart {
  const u8 = (name: string) => new Uint8Array(...placeOf(table, part, name, 1))
  const u16 = (name: string) => new Uint16Array(...placeOf(table, part, name, 2))
  const u32 = (name: string) => new Uint32Array(...placeOf(table, part, name, 4))
  const f32 = (name: string) => new Float32Array(...placeOf(table, part, name, 4))
  const f64 = (name: string) => new Float64Array(...placeOf(table, part, name, 8))
  const standings = u8('standings')
  const rows = standings.length
  const dictionary = loadDictionary(u8, u16, u32)
  const codes = (name: string) => codesOf(table.bytesOf(`${part}.${name}`), rows)
  const nameSaturations = { codes: codes('nameSaturationCodes'), values: f64('nameSaturations') }
  return {
    rows,
    dictionary,
    sounds: { slots: u32('soundSlots'), limit: countTerms(dictionary) },
    surfaces: {
      terms: u32('surfaceTerms'),
      starts: u32('surfaceStarts'),
      bytes: u8('surfaceBytes'),
    },
    postings: {
      bytes: u8('postingBytes'),
      lengths: u8('postingLengths'),
      blocks: u32('postingBlocks'),
    },
    palette: f32('palette'),
    scoredRows,
    ids: { slots: u32('idSlots'), limit: rows },
    nameSaturations,
    browseOrder: u32('browseOrder'),
    standings,
    highestMultiplier: highestMultiplier(standings),
    highestNameSaturation: nameSaturations.values.at(-1) ?? 0,
    minUsd: { codes: codes('priceCodes'), values: f64('prices') },
    filterBits: u32('filterBits'),
    bodyStarts: u32('bodyStarts'),
    bodyChecksums: u32('bodyChecksums'),
  }
}

function loadDictionary(
  u8: (name: string) => Uint8Array,
  u16: (name: string) => Uint16Array,
  u32: (name: string) => Uint32Array,
): TermDictionary {
  const starts = u32('wordStarts')
  const words = starts.length - 1
  const byText = { slots: u32('wordSlots'), limit: words }
  return {
    words: { bytes: u8('wordBytes'), starts, byText, filter: u32('wordFilter') },
    pairs: {
      firsts: u32('pairFirsts'),
      starts: u32('pairStarts'),
      seconds: hasShortNumbers(words) ? u16('pairSeconds') : u32('pairSeconds'),
    },
  }
}

/** As wide as the column needed, see `CodedColumn`. */
function codesOf(
  { buffer, at, length }: ReturnType<IndexHead['bytesOf']>,
  rows: number,
): CodedColumn['codes'] {
  if (length <= rows) return new Uint8Array(buffer, at, rows)
  return length === 2 * rows ? new Uint16Array(buffer, at, rows) : new Uint32Array(buffer, at, rows)
}

function placeOf(
  table: IndexHead,
  part: string,
  name: string,
  elementBytes: number,
): [ArrayBufferLike, number, number] {
  const { buffer, at, length } = table.bytesOf(`${part}.${name}`)
  return [buffer, at, length / elementBytes]
}
