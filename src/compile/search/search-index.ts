import { Worker } from 'node:worker_threads'
import type { SearchWords } from '../../domain/derived/search-words.ts'
import { buildSearchIndex } from '../../search/index/build-search-index.ts'
import type { SearchDocument } from '../../search/index/search-document.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { toSearchDocument } from '../derive/search-documents.ts'
import { deflateBlock } from './deflate-block.ts'

/** All that the index of the server's search is made from. */
export interface IndexInput {
  documents: SearchDocument[]
  tables: { categories: string[]; sources: string[]; words: SearchWords }
}

export function toIndexInput({ listings, tables, baseUrl }: Catalogue): IndexInput {
  return {
    documents: listings.map((listing) => toSearchDocument(listing, baseUrl)),
    tables: {
      categories: tables.categories.map(({ id }) => id),
      sources: tables.sources.map(({ id }) => id),
      words: { ...tables.searchWords, foreign: tables.foreignWords },
    },
  }
}

/** @throws Error naming the listing that cannot be indexed */
export function toSearchIndex({ documents, tables }: IndexInput): Uint8Array {
  return buildSearchIndex(documents, { ...tables, deflate: deflateBlock })
}

/** The same in a thread of its own, while other parts of a release are made. @throws the same */
export function makeSearchIndex(input: IndexInput): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const url = new URL('./search-index-worker.ts', import.meta.url)
    const worker = new Worker(url, { workerData: input })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () =>
      reject(new Error('the thread of the search index ended before its work')),
    )
  })
}
