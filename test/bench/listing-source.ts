import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { readScaleListings } from './scale-listings.ts'
import { findSharedDir } from './shared-data.ts'
import { syntheticListings } from './synthetic-listings.ts'

/**
 * The real listings and as many synthetic ones as it takes, made one at a time as they are asked
 * for: a million need gigabytes, which only an engine that keeps them should take.
 */
export function createListingSource(size: number) {
  let makeMs = 0
  return {
    *listings(): Generator<SearchDocument> {
      const made = makeListings(size)
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
  const real = readScaleListings(findSharedDir() ?? '')
  yield* real
  yield* syntheticListings(real, Math.max(0, size - real.length))
}
