import { parentPort } from 'node:worker_threads'
import type { Tables } from '../domain/derived/tables.ts'
import { createIndexBuilder, toIndexTables } from '../search/index/build-index.ts'
import {
  type OperationPart,
  type SearchDocument,
  toOperationDocument,
} from '../search/index/search-document.ts'

/** Documents of operations repeat their listing's: they are put together here. */
export interface IndexedListing {
  document: SearchDocument
  operations: OperationPart[]
}

/** First the tables, then listings, then null: the indexes are posted back. */
export type IndexMessage = { tables: Tables } | { listings: IndexedListing[] } | null

let builders: Record<'listings' | 'operations', ReturnType<typeof createIndexBuilder>> | undefined

parentPort?.on('message', (message: IndexMessage) => {
  if (message !== null && 'tables' in message) {
    const tables = toIndexTables(message.tables)
    builders = {
      listings: createIndexBuilder({ noun: 'listing', ...tables }),
      operations: createIndexBuilder({ noun: 'operation', ...tables }),
    }
    return
  }
  if (builders === undefined) throw new Error('the index thread got no tables')
  const { listings, operations } = builders
  if (message === null) {
    const made = { listings: listings.finish(), operations: operations.finish() }
    parentPort?.postMessage(made, [made.listings.buffer, made.operations.buffer])
    parentPort?.close()
    return
  }
  // Read at once: of a document its terms are kept, which take less room.
  for (const { document, operations: parts } of message.listings) {
    listings.add(document)
    for (const part of parts) operations.add(toOperationDocument(document, part))
  }
})
