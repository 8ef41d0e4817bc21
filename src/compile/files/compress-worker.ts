import { parentPort, workerData } from 'node:worker_threads'
import * as v from 'valibot'
import { COMPRESSION, compressFile } from './compress-file.ts'
import { readEarlierCopies } from './earlier-copies.ts'

const { root, files, before } = v.parse(
  v.strictObject({ root: v.string(), files: v.array(v.string()), before: v.nullable(v.string()) }),
  workerData,
)
const earlier = readEarlierCopies(before, COMPRESSION)
parentPort?.postMessage(files.map((file) => compressFile(root, file, earlier)))
