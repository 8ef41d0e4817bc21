import { parentPort, workerData } from 'node:worker_threads'
import { openMemory } from '../files/memory.ts'
import { type IndexWork, recallSearchIndex } from './write-engine.ts'

// What a thread is given is typed `any`; `makeSearchIndex` gives it this.
const { input, path, version }: IndexWork = workerData
parentPort?.postMessage(recallSearchIndex(input, openMemory(path, version)))
