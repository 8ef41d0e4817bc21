import * as v from 'valibot'
import type { SearchWords } from '../../domain/derived/search-words.ts'
import type { CodedColumn } from '../numbers/coded-column.ts'
import { createWordSets } from '../words/word-sets.ts'
import { filterValues } from './build-columns.ts'
import {
  INDEX_HEADER_BYTES,
  type IndexHead,
  type IndexHeader,
  readIndexHead,
  readIndexHeader,
  SearchIndexError,
  verifyBytes,
} from './index-file.ts'
import { readRecord } from './index-rows.ts'
import type { BodyStore, IndexPart, SearchIndex } from './index-shape.ts'
import { highestMultiplier } from './standing.ts'
import { hasShortNumbers, type TermDictionary } from './term-dictionary.ts'
import { countWords, type WordTable } from './word-table.ts'

const FactsSchema = v.object({
  categories: v.array(v.string()),
  sources: v.array(v.string()),
  /** Organic rows: what document frequencies were taken over. */
  rows: v.number(),
  /** As the build wrote them a moment before the checksum was taken. */
  words: v.custom<SearchWords>((words) => typeof words === 'object'),
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
      readRecord(index, part, row)
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
  const { rows, words, ...filters } = v.parse(FactsSchema, table.facts)
  const values = filterValues(filters)
  const own = createTable(table, '')
  const organic = loadPart(table, 'organic', rows)
  const firstParty = loadPart(table, 'firstParty', rows)
  return {
    filters,
    words: createWordSets(words),
    spellings: { words: loadWords(own, 'spelling'), rows: own.u32('spellingRows') },
    filterPlaces: new Map(values.map((value, at) => [value, at])),
    organic,
    firstParty,
    bodies,
    unpacked: {
      memory: new Uint8Array(0),
      used: 0,
      starts: new Uint32Array(organic.rows + firstParty.rows),
      ends: new Uint32Array(organic.rows + firstParty.rows),
    },
    verifyReads: true,
  }
}

type Table = ReturnType<typeof createTable>

/** Sections of the file as typed arrays. @param part what stands before their names, with a dot */
function createTable(table: IndexHead, part: string) {
  const place = (name: string, elementBytes: number): [ArrayBufferLike, number, number] => {
    const { buffer, at, length } = table.bytesOf(part + name)
    return [buffer, at, length / elementBytes]
  }
  return {
    u8: (name: string) => new Uint8Array(...place(name, 1)),
    u16: (name: string) => new Uint16Array(...place(name, 2)),
    u32: (name: string) => new Uint32Array(...place(name, 4)),
    f64: (name: string) => new Float64Array(...place(name, 8)),
    column: (name: string, rows: number): CodedColumn => ({
      codes: codesOf(table.bytesOf(`${part}${name}Codes`), rows),
      values: new Float64Array(...place(name, 8)),
    }),
  }
}

function loadPart(head: IndexHead, part: string, scoredRows: number): IndexPart {
  const table = createTable(head, `${part}.`)
  const { u8, u32, f64, column } = table
  const standings = u8('standings')
  const rows = standings.length
  return {
    rows,
    dictionary: loadDictionary(table),
    postings: {
      bytes: u8('postingBytes'),
      lengths: u8('postingLengths'),
      blocks: u32('postingBlocks'),
    },
    palette: f64('palette'),
    paletteFields: u8('paletteFields'),
    scoredRows,
    exact: { keys: f64('exactKeys'), rows: u32('exactRows') },
    browseOrder: u32('browseOrder'),
    standings,
    highestMultiplier: highestMultiplier(standings),
    minUsd: column('minUsd', rows),
    maxUsd: column('maxUsd', rows),
    added: column('added', rows),
    filterBits: u32('filterBits'),
    bodyStarts: u32('bodyStarts'),
    bodyChecksums: u32('bodyChecksums'),
  }
}

function loadDictionary(table: Table): TermDictionary {
  const words = loadWords(table, 'word')
  return {
    words,
    pairs: {
      starts: table.u32('pairStarts'),
      seconds: hasShortNumbers(countWords(words))
        ? table.u16('pairSeconds')
        : table.u32('pairSeconds'),
    },
  }
}

function loadWords({ u8, u32 }: Table, name: string): WordTable {
  const starts = u32(`${name}Starts`)
  return {
    bytes: u8(`${name}Bytes`),
    starts,
    byText: { slots: u32(`${name}Slots`), limit: starts.length - 1 },
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
