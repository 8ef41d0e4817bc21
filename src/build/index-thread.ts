import { parentPort, workerData } from 'node:worker_threads'
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

// A thread's data is typed `any`; `beginIndexes` passes the tables.
const tables = toIndexTables(workerData)
const listings = createIndexBuilder({ noun: 'listing', ...tables })
const operations = createIndexBuilder({ noun: 'operation', ...tables })

/** After null no more come: the indexes are posted back. */
parentPort?.on('message', (message: IndexedListing[] | null) => {
  if (message === null) {
    const made = { listings: listings.finish(), operations: operations.finish() }
    parentPort?.postMessage(made, [made.listings.buffer, made.operations.buffer])
    return parentPort?.close()
  }
  // Read at once: of a document its terms are kept, which take less room.
  for (const { document, operations: parts } of message) {
    listings.add(document)
    for (const part of parts) operations.add(toOperationDocument(document, part))
  }
})
