import { workerData } from 'node:worker_threads'
import { type Share, writeShare } from './lay-out.ts'

// A thread's data is typed `any`; `layOut` passes this.
const share: Share = workerData
writeShare(share)
