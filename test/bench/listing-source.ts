import { join } from 'node:path'
import { toOperationDocuments } from '../../src/build/indexes.ts'
import { readContent } from '../../src/content/read.ts'
import { createCatalogue } from '../../src/derive/catalogue.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { readScaleListings } from './scale-listings.ts'
import { findSharedDir } from './shared-data.ts'
import { syntheticListings, syntheticOperations } from './synthetic-listings.ts'

/**
 * The real listings and as many synthetic ones as it takes, made one at a time as they are asked
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
  const real = readScaleListings(findSharedDir() ?? '')
  yield* real
  yield* syntheticListings(real, Math.max(0, size - real.length))
}

function* makeOperations(size: number): Generator<SearchDocument> {
  const real = readOperations()
  yield* real
  yield* syntheticOperations(real, Math.max(0, size - real.length))
}

/** What can be called of the directory's own listings. */
export function readOperations(): SearchDocument[] {
  const rules = { allowPrivate: false }
  const { content } = readContent(join(import.meta.dirname, '../../content'), rules)
  if (content === null) throw new Error('the content has faults: run npm run check')
  const options = {
    baseUrl: 'https://waypost.example',
    rules,
    asOf: '2026-11-26',
    ledger: NO_LEDGER_FACTS,
  }
  const catalogue = createCatalogue(content, options)
  return catalogue.listings.flatMap((listing) => toOperationDocuments(listing, catalogue))
}
