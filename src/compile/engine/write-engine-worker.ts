import { parentPort, workerData } from 'node:worker_threads'
import { type IndexWork, makeIndexesHere, type SearchIndexes } from './write-engine.ts'

// What a thread is given is typed `any`; `makeSearchIndexes` gives it this.
const work: IndexWork = workerData
const made: SearchIndexes = makeIndexesHere(work)
parentPort?.postMessage(made)
