import { parentPort, workerData } from 'node:worker_threads'
import * as v from 'valibot'
import { linkEarlier } from './carry-over.ts'

const carrying = v.parse(
  v.strictObject({ from: v.string(), to: v.string(), compression: v.string() }),
  workerData,
)
parentPort?.postMessage(linkEarlier(carrying))
