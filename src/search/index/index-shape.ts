import type { WordSets } from '../words/word-sets.ts'
import type { CodedColumn, FilterVocabulary, OfferTable } from './columns.ts'
import type { ExactTable } from './exact-table.ts'
import type { RangeName, TermIndex, WordTable } from './terms.ts'

/** The name of an index's rows in notes. */
export type IndexNoun = 'listing' | 'operation'

/**
 * The content of the file; immutable. Rows are numbered in the order of ties (trust, buyers, id), so
 * that of two equal scores the lower row number wins; our own come behind all others, and whatever is
 * counted or averaged (rows, document frequencies, lengths, spellings) is of the organic rows alone.
 */
export interface IndexData {
  noun: IndexNoun
  filters: FilterVocabulary
  /** The name of each bit set, in the order of the file: bit sets are found by name. */
  filterValues: readonly string[]
  /** The content's table of words, as JSON: most of it is first needed by a query. */
  searchWords: string
  /** How the organic listings write words, with the number of listings that write them so. */
  spellings: { words: WordTable; rows: Uint32Array }
  /** How many rows are not first-party: those come first. */
  organicRows: number
  terms: TermIndex
  exact: ExactTable
  /** Rows in the order of a search without words, first the organic ones. */
  browseOrder: Uint32Array
  /** Trust and Live-Tested of each row, see `toStanding`. */
  trustMarks: Uint8Array
  highestMultiplier: number
  /** Lowest and highest price of each row, the day it was added, and reported calls; NaN for none. */
  minUsd: CodedColumn
  maxUsd: CodedColumn
  added: CodedColumn
  reportedCalls: CodedColumn
  /** The most settlements that anybody counts. */
  settlements: CodedColumn
  /** The newest day of a good answer, and of a counted payment. */
  answered: CodedColumn
  lastPaid: CodedColumn
  /** What a row says of payments: the texts, and which of them each row has. */
  paidTexts: readonly string[]
  paidCodes: Uint32Array
  /** A bit for each row and filter value; the words of a value lie together. */
  filterBits: Uint32Array
  offers: OfferTable
  /** Where the body of each row starts, and where the last one ends. */
  bodyStarts: Uint32Array
  /** `checksum` of each body, looked at when it is read. */
  bodyChecksums: Uint32Array
}

/** A loaded search index. */
export interface SearchIndex extends IndexData {
  organic: RowRange
  firstParty: RowRange
  /** Position of the bit set of each filter value, counted in bit sets. */
  filterPlaces: ReadonlyMap<string, number>
  words: WordSets
  bodies: BodyStore
  /** Whether bodies are verified as they are read; not needed once all were. */
  verifyReads: boolean
}

/** Rows that are ranked together: the organic ones, or our own. */
export interface RowRange {
  name: RangeName
  start: number
  end: number
}

/** A term as the organic rows know it. Only their words decide what is searched for. */
export interface KnownTerm {
  text: string
  /** A word it represents, as written: a term is a stem. */
  written: string
  /** Its number, or -1. Our own rows alone may hold it. */
  number: number
  /** How many organic rows hold it. */
  rows: number
}

/** Listing bodies that can be read by position: in memory, or in a file. */
export interface BodyStore {
  /** Its result may be overwritten by the next read. */
  read(at: number, length: number): Uint8Array
}
