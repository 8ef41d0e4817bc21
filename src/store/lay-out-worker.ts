import { workerData } from 'node:worker_threads'
import { type Share, writeShare } from './lay-out.ts'

// What a thread is given is typed `any`; `layOut` gives it this.
const share: Share = workerData
writeShare(share)
