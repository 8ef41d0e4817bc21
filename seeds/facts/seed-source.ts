import type { FoundSeller } from '../../functions/discovery/find-seller.ts'
import type { SourceRow } from '../../src/domain/derived/source-table.ts'
import type { ListingFacts } from '../../src/domain/listing/listing-facts.ts'
import type { HostRules } from './callable-url.ts'
import type { Refusal } from './refusal.ts'
import type { Seed } from './seed-facts.ts'

/** A listing that is there, as far as it is sound. */
export interface ListedFacts {
  id: string
  facts: { [Name in keyof ListingFacts]?: ListingFacts[Name] | undefined }
}

/** What a source's rows are held against while they are mapped. */
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

/** From foreign rows to listings: every row ends in exactly one of `seeds`, `refused`, `deleted`. */
export interface ChosenSeeds {
  /** Sorted by key. */
  seeds: Seed[]
  refused: Refusal[]
  /** Parts left out of listings that are otherwise carried over: remotes, prices, operations. */
  dropped: Refusal[]
  /** Refused for their words alone, as they would be listed: for the review queue. */
  held: Seed[]
  /** Keys that the source itself says are gone; their rows are among the refused. */
  deleted: readonly string[]
}

/** How a source's texts hold its rows: a list, a page around one, one row, or a line each. */
export interface RowShape {
  /** Names under which a page holds its rows, as a list or by their names. */
  lists: readonly string[]
  /** What a page or a line should be, for the message. */
  expected: string
  /** Whether an object by itself is a row. */
  isRow(value: Record<string, unknown>): boolean
  /** Whether a text of addresses, one a line, is rows too. */
  takesAddresses?: boolean
  takesYaml?: boolean
  /** Member of a saved page that says when it was saved: each of its rows carries it. */
  savedAt?: string
}

/** An importer: where its rows are, how a text holds them, and what becomes of them. */
export interface SeedSource {
  id: string
  /** What it imports, for the help text. */
  title: string
  liveUrl: string
  /** True where a whole run shows everything there is, so that what is missing is gone. */
  promisesAll: boolean
  shape: RowShape
  /** A row with the folder of its file, where files of one folder tell of one thing. */
  place?(row: unknown, folder: string | null): unknown
  choose(values: readonly unknown[], rules: MapRules): ChosenSeeds
  /** Reads on where rows are addresses: cards, sellers' own files. Never throws for one of them. */
  follow?(
    values: readonly unknown[],
    reader: SellerReader,
  ): Promise<{ values: unknown[]; refused: Refusal[] }>
  /** Rows from what is listed, for a source that reads the listings' sellers. */
  fromContent?(listings: readonly ListedFacts[]): unknown[]
  /** Parameter of its address that asks for rows changed since an instant. */
  sinceParameter?: string
}

export type SellerAnswer = { ok: true; text: string } | { ok: false; detail: string }

/** Reads what a source or a listing names: guarded as the relay is, bounded, nothing followed. */
export interface SellerReader {
  read(url: string): Promise<SellerAnswer>
  /** A seller's own files. */
  find(origin: string): Promise<FoundSeller>
  /** Runs work over a list, a few at a time, in the list's order. */
  each<Item, Result>(
    items: readonly Item[],
    work: (item: Item) => Promise<Result>,
  ): Promise<Result[]>
  close(): Promise<void>
}
