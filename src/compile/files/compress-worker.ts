import { parentPort, workerData } from 'node:worker_threads'
import * as v from 'valibot'
import { compressFile } from './compress-file.ts'

const { root, files } = v.parse(
  v.strictObject({ root: v.string(), files: v.array(v.string()) }),
  workerData,
)
parentPort?.postMessage(files.map((file) => compressFile(root, file)))
