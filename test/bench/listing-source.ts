import { toSearchDocument } from '../../src/build/indexes.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { catalogue, readOperationDocuments } from '../support/own-catalogue.ts'
import { syntheticListings, syntheticOperations } from './synthetic-listings.ts'

/**
 * The directory's own listings and as many synthetic ones as it takes, made one at a time as they are asked
 * for: a million need gigabytes, which only an engine that keeps them should take.
 */
export function createListingSource(size: number, what: 'listings' | 'operations' = 'listings') {
  let makeMs = 0
  return {
    *listings(): Generator<SearchDocument> {
      const made = what === 'listings' ? makeListings(size) : makeOperations(size)
      for (;;) {
        const started = performance.now()
        const next = made.next()
        makeMs += performance.now() - started
        if (next.done) return
        yield next.value
      }
    },
    /** How long making them took, to be taken off what an engine needed. */
    makeMs: () => makeMs,
  }
}

function* makeListings(size: number): Generator<SearchDocument> {
  const real = readListings()
  yield* real.slice(0, size)
  yield* syntheticListings(real, Math.max(0, size - real.length))
}

function* makeOperations(size: number): Generator<SearchDocument> {
  const real = readOperationDocuments()
  yield* real
  yield* syntheticOperations(real, Math.max(0, size - real.length))
}

/** The directory's own listings. */
export function readListings(): SearchDocument[] {
  const { listings } = catalogue
  return listings.map((listing) => toSearchDocument(listing, catalogue))
}
