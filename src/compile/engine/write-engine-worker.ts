import { parentPort, workerData } from 'node:worker_threads'
import { type IndexInput, toSearchIndex } from './write-engine.ts'

// What a thread is given is typed `any`; `makeSearchIndex` gives it this.
const input: IndexInput = workerData
const index = toSearchIndex(input)
parentPort?.postMessage(index)
