import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { StaticFile } from '../../domain/wire/static-file.ts'
import type { CarriedFile } from './carry-over.ts'
import { compressFile, describeFile } from './compress-file.ts'
import { FILES_WORKER, inThread } from './in-thread.ts'

const MAX_WORKERS = 4

/** Below this a worker takes longer to start than to finish. */
const FILES_PER_WORKER = 500

/** Compresses files beside themselves (`.br`, `.gz`); `files` are paths below `root`. */
export async function compressFiles(root: string, files: string[]): Promise<CarriedFile[]> {
  const count = Math.min(
    MAX_WORKERS,
    availableParallelism(),
    Math.floor(files.length / FILES_PER_WORKER),
  )
  if (count < 2) return files.map((file) => compressFile(root, file))
  // Dealt out one by one: pages lie together and are larger than the rest.
  const shares = Array.from({ length: count }, (_, i) => files.filter((_, j) => j % count === i))
  const ended = `${root}: a thread ended before its files`
  const described = await Promise.all(
    shares.map((files) =>
      inThread<CarriedFile[]>(FILES_WORKER, { work: 'compress', root, files }, ended),
    ),
  )
  return described.flat()
}

/** What a server must know of each file below `root`, none of them compressed; sorted by path. */
export function describeFiles(root: string): StaticFile[] {
  return listFiles(root).map((file) => describeFile(root, file))
}

function listFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort()
}
