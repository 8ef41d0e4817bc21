import { parentPort, workerData } from 'node:worker_threads'
import { type IndexWork, makeSearchIndex, type SearchIndexes, withEnglish } from './write-engine.ts'

// What a thread is given is typed `any`; `makeSearchIndexes` gives it this.
const work: IndexWork = workerData
const listings = makeSearchIndex('listings', work)
const tables = withEnglish(work.tables, listings)
const made: SearchIndexes = {
  listings,
  operations: makeSearchIndex('operations', { ...work, tables }),
}
parentPort?.postMessage(made)
