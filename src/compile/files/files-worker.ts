import { parentPort, workerData } from 'node:worker_threads'
import { type Carrying, linkEarlier } from './carry-over.ts'
import { createCompressedWriter } from './compress-files.ts'
import type { Batch, WriteWork } from './file-threads.ts'
import type { ListedFile } from './manifest.ts'

// What a thread is given is typed `any`; `carryOver` and `createFileThreads` give it this.
const given: WriteWork | (Carrying & { work: 'carry'; from: string }) = workerData
if (given.work === 'carry') parentPort?.postMessage(linkEarlier(given))
else writeFiles(given)

/** What threads do with the files of a release. */
function writeFiles({ root, waiting }: WriteWork): void {
  const write = createCompressedWriter(root)
  const listed: ListedFile[] = []
  parentPort?.on('message', (batch: Batch | null) => {
    if (batch === null) {
      parentPort?.postMessage(listed)
      return parentPort?.close()
    }
    let at = 0
    for (const { length, ...rest } of batch.files) {
      listed.push(write({ ...rest, bytes: batch.bytes.subarray(at, at + length) }))
      at += length
    }
    Atomics.sub(waiting, 0, batch.bytes.length)
    Atomics.notify(waiting, 0)
  })
}
