import { rmSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import * as v from 'valibot'

for (const folder of v.parse(v.array(v.string()), workerData))
  rmSync(folder, { recursive: true, force: true })
