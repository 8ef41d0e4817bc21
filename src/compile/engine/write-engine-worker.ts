import { parentPort, workerData } from 'node:worker_threads'
import { type IndexWork, makeIndexesHere, type SearchIndexes } from './write-engine.ts'

// A thread's data is typed `any`; `makeSearchIndexes` passes this.
const work: IndexWork = workerData
const made: SearchIndexes = makeIndexesHere(work)
parentPort?.postMessage(made)
