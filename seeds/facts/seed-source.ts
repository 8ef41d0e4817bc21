import type { FoundSeller } from '../../functions/probes/find-seller.ts'
import type { SourceRow } from '../../src/domain/derived/source-table.ts'
import type { ListingFacts } from '../../src/domain/listing/listing-facts.ts'
import type { HostRules } from './callable-url.ts'
import type { Refusal } from './refusal.ts'
import type { Seed } from './seed-facts.ts'

/** The valid parts of an existing listing. */
export interface ListedFacts {
  id: string
  facts: { [Name in keyof ListingFacts]?: ListingFacts[Name] | undefined }
}

/** Existing data that a source's rows are compared with while they are mapped. */
export interface MapRules extends HostRules {
  categories: ReadonlySet<string>
  sources: readonly SourceRow[]
  /** The run's time, ISO 8601. */
  now: string
}

/** One answer of a source, or one saved file. */
export interface SourcePage {
  values: unknown[]
  refused: Refusal[]
  /** Address of the next page, from the one just read; null at the end. */
  next: URL | null
}

/** Mapped foreign rows: every row is in exactly one of `seeds`, `refused`, `deleted`. */
export interface ChosenSeeds {
  /** Sorted by key. */
  seeds: Seed[]
  refused: Refusal[]
  /** Parts left out of listings that are otherwise imported: remotes, prices, operations. */
  dropped: Refusal[]
  /** Refused only for their words, as they would be listed: for the review queue. */
  held: Seed[]
  /** Keys that the source itself says are gone; their rows are among the refused. */
  deleted: readonly string[]
}

/** How a source's texts hold its rows: a list, a page around one, one row, or one per line. */
export interface RowShape {
  /** Names under which a page holds its rows, as a list or by their names. */
  lists: readonly string[]
  /** What a page or a line should be, for the message. */
  expected: string
  /** Whether a single object is a row. */
  isRow(value: Record<string, unknown>): boolean
  /** Whether a text of addresses, one per line, is rows too. */
  takesAddresses?: boolean
  takesYaml?: boolean
  /** Whether a text is lines of values under the names of their columns; `#` starts a remark. */
  takesCsv?: boolean
  /** Member of a saved page that says when it was saved: each of its rows carries it. */
  savedAt?: string
}

/** An importer: where its rows are, how a text holds them, and how they are mapped. */
export interface SeedSource {
  id: string
  /** What it imports, for the help text. */
  title: string
  /** Null where only a file is read; empty where the listings themselves are. */
  liveUrl: string | null
  /** True where a whole run shows everything there is, so that what is missing is gone. */
  promisesAll: boolean
  /** Its rows only add to listings that are there. */
  addsOnly?: boolean
  shape: RowShape
  /** A row with the folder of its file, where files of one folder describe one service. */
  place?(row: unknown, folder: string | null): unknown
  choose(values: readonly unknown[], rules: MapRules): ChosenSeeds
  /** Reads documents where rows are addresses: cards, sellers' files. Never throws for one. */
  follow?(
    values: readonly unknown[],
    reader: SellerReader,
  ): Promise<{ values: unknown[]; refused: Refusal[] }>
  /** Rows made from existing listings, for a source that reads the listings' sellers. */
  fromContent?(listings: readonly ListedFacts[]): unknown[]
  /** Parameter of its address that asks for rows changed since an instant. */
  sinceParameter?: string
}

export type SellerAnswer = { ok: true; text: string } | { ok: false; detail: string }

/** Reads addresses from a source or a listing: guarded like the relay, limited, no redirects. */
export interface SellerReader {
  read(url: string): Promise<SellerAnswer>
  /** A seller's own files. */
  find(origin: string): Promise<FoundSeller>
  /** Maps a list with asynchronous work, a few at a time, in the list's order. */
  each<Item, Result>(
    items: readonly Item[],
    work: (item: Item) => Promise<Result>,
  ): Promise<Result[]>
  close(): Promise<void>
}
