import { parentPort, workerData } from 'node:worker_threads'
import * as v from 'valibot'
import { linkEarlier } from './carry-over.ts'
import { compressFile } from './compress-files.ts'

/** What threads do with the files of a release. */
const WorkSchema = v.variant('work', [
  v.strictObject({
    work: v.literal('carry'),
    from: v.string(),
    spare: v.string(),
    to: v.string(),
    compression: v.string(),
  }),
  v.strictObject({ work: v.literal('compress'), root: v.string(), files: v.array(v.string()) }),
])

parentPort?.postMessage(doWork(v.parse(WorkSchema, workerData)))

function doWork(given: v.InferOutput<typeof WorkSchema>) {
  if (given.work === 'carry') return linkEarlier(given)
  return given.files.map((file) => compressFile(given.root, file))
}
