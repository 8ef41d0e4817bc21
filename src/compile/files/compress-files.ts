import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import * as v from 'valibot'
import { type StaticFile, StaticFileSchema } from '../../domain/wire/static-file.ts'
import { COMPRESSION, compressFile, describeFile } from './compress-file.ts'
import { readEarlierCopies } from './earlier-copies.ts'

const MAX_WORKERS = 4

/** Below this a worker takes longer to start than to finish. */
const FILES_PER_WORKER = 500

export interface Compressing {
  /** The public folder. */
  root: string
  /** Only what lies in this folder of it, such as `pagefind`. */
  below?: string
  /** The release before, whose compressed copies serve again where a file is the same. */
  before: string | null
}

/**
 * Compresses every file beside itself (`.br`, `.gz`) and returns what a server must know of each,
 * sorted by path.
 */
export async function compressFiles({
  root,
  below = '',
  before,
}: Compressing): Promise<StaticFile[]> {
  const files = listFiles(root, below)
  const count = Math.min(
    MAX_WORKERS,
    availableParallelism(),
    Math.floor(files.length / FILES_PER_WORKER),
  )
  if (count < 2) {
    const earlier = readEarlierCopies(before, COMPRESSION)
    return files.map((file) => compressFile(root, file, earlier))
  }
  // Dealt out one by one: pages lie together and are larger than the rest.
  const shares = Array.from({ length: count }, (_, i) => files.filter((_, j) => j % count === i))
  const described = await Promise.all(
    shares.map((share) => compressInWorker({ root, files: share, before })),
  )
  return sortFiles(described.flat())
}

export function sortFiles(files: StaticFile[]): StaticFile[] {
  return files.sort((a, b) => (a.file < b.file ? -1 : 1))
}

/** What a server must know of each file below `root`, none of them compressed; sorted by path. */
export function describeFiles(root: string): StaticFile[] {
  return listFiles(root).map((file) => describeFile(root, file))
}

function compressInWorker(share: {
  root: string
  files: string[]
  before: string | null
}): Promise<StaticFile[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./compress-worker.ts', import.meta.url), {
      workerData: share,
    })
    worker.once('message', (message) => resolve(v.parse(v.array(StaticFileSchema), message)))
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error(`${share.root}: a worker ended before its files`)))
  })
}

function listFiles(root: string, below = ''): string[] {
  return readdirSync(join(root, below), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort()
}
