import type { SearchWords } from '../../domain/derived/query-words.ts'
import type { WordSets } from '../words/word-sets.ts'
import type { CodedColumn } from './coded-column.ts'
import type { ExactTable } from './exact-table.ts'
import type { OfferTable } from './offer-table.ts'
import type { TermIndex } from './postings.ts'
import type { WordTable } from './word-table.ts'

export type PartName = 'organic' | 'firstParty'

/** The known categories and sources of an index; a filter for any other is a caller's mistake. */
export interface FilterVocabulary {
  categories: readonly string[]
  sources: readonly string[]
  networks: readonly string[]
}

/** The name of an index's rows in notes. */
export type IndexNoun = 'listing' | 'operation'

/** The content of the file; immutable. */
export interface IndexData {
  noun: IndexNoun
  /** Words of other languages that listings write as English ones; null where the rows themselves say so. */
  english: readonly string[] | null
  filters: FilterVocabulary
  /** The name of each bit set, in the order of the file: bit sets are found by name. */
  filterValues: readonly string[]
  /** The content's table of words. */
  searchWords: SearchWords
  /** How the organic listings write words, with the number of listings that write them so. */
  spellings: { words: WordTable; rows: Uint32Array }
  organic: IndexPart
  firstParty: IndexPart
  /** Where the body of each row starts, our own behind the others, and where the last one ends. */
  bodyStarts: Uint32Array
  /** `checksum` of each body, looked at when it is read. */
  bodyChecksums: Uint32Array
}

/** A loaded search index. */
export interface SearchIndex extends IndexData {
  /** Position of the bit set of each filter value, counted in bit sets. */
  filterPlaces: ReadonlyMap<string, number>
  words: WordSets
  englishWords: ReadonlySet<string> | null
  bodies: BodyStore
  /** Whether bodies are verified as they are read; not needed once all were. */
  verifyReads: boolean
}

/** A term as the organic rows know it. Only their words decide what is searched for. */
export interface KnownTerm {
  text: string
  /** A word it represents, as written: a term is a stem. */
  written: string
  /** Its number among the organic terms, or -1. */
  number: number
  /** How many organic rows hold it. */
  rows: number
}

/** Listing bodies that can be read by position: in memory, or in a file. */
export interface BodyStore {
  /** Its result may be overwritten by the next read. */
  read(at: number, length: number): Uint8Array
}

/**
 * Rows that are ranked together: the organic ones, or our own. Rows are numbered in the order of
 * ties (trust, buyers, id), so that of two equal scores the lower row number wins.
 */
export interface IndexPart extends TermIndex {
  rows: number
  exact: ExactTable
  /** Rows in the order of a search without words. */
  browseOrder: Uint32Array
  /** Trust and Live-Tested of each row, see `toStanding`. */
  standings: Uint8Array
  highestMultiplier: number
  /** Lowest and highest price of each row, the day it was added, and reported calls; NaN for none. */
  minUsd: CodedColumn
  maxUsd: CodedColumn
  added: CodedColumn
  reportedCalls: CodedColumn
  /** A bit for each row and filter value; the words of a value lie together. */
  filterBits: Uint32Array
  offers: OfferTable
}

/** 32-bit words a bit set over all rows takes. */
export function bitWords(rows: number): number {
  return (rows + 31) >>> 5
}
