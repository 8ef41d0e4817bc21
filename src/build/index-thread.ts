import { deserialize } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import type { SearchWords } from '../domain/derived/tables.ts'
import { createDocumentReader, joinReadings } from '../search/index/build-index.ts'
import type { ReadDocument, SearchDocument } from '../search/index/search-document.ts'

/** The content tables that the indexes are made with. */
export interface IndexTables {
  categories: string[]
  sources: string[]
  tasks: string[]
  words: SearchWords
}

/** First the tables, then documents, then null: the indexes are posted back. */
export type IndexMessage =
  | { tables: IndexTables }
  /** Operations are serialised: as objects those of 15,000 listings take 300 MiB until they are read. */
  | { listings: SearchDocument[]; operations: Uint8Array }
  | null

let tables: IndexTables | undefined
let readListing: ((document: SearchDocument) => ReadDocument) | undefined
const listings: ReadDocument[] = []
const operations: Uint8Array[] = []

parentPort?.on('message', (message: IndexMessage) => {
  if (message === null) return finish()
  if ('tables' in message) {
    tables = message.tables
    readListing = createDocumentReader({ noun: 'listing', ...tables })
    return
  }
  // Read at once: of a document its terms are kept, which take less room.
  for (const document of message.listings)
    if (readListing !== undefined) listings.push(readListing(document))
  operations.push(message.operations)
})

/** One behind the other: at once they would take twice the memory. */
function finish(): void {
  if (tables === undefined) throw new Error('the index thread got no tables')
  const made = joinReadings(listings, { noun: 'listing', ...tables })
  listings.length = 0
  const options = { noun: 'operation' as const, ...tables }
  const read = createDocumentReader(options)
  const others = joinReadings(readAll(read), options)
  parentPort?.postMessage({ listings: made, operations: others }, [made.buffer, others.buffer])
  parentPort?.close()
}

function* readAll(read: (document: SearchDocument) => ReadDocument): Generator<ReadDocument> {
  for (const some of operations) {
    // It is typed `any`; `beginIndexes` serialised this.
    const documents: SearchDocument[] = deserialize(some)
    for (const document of documents) yield read(document)
  }
}
