import type { FoundSeller } from '../../functions/discovery/find-seller.ts'

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
