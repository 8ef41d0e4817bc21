import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'
import type { StaticFile } from '../../src/domain/wire/static-file.ts'

/** Files looked at without a pause: a server goes on answering meanwhile. */
const FILES_AT_A_TIME = 200

/**
 * Names of files that are not as long as they were published, compressed neighbours too. Their
 * bytes are verified when they are first read.
 */
export async function findDamaged(dir: string, files: Iterable<StaticFile>): Promise<string[]> {
  const damaged: string[] = []
  let seen = 0
  for (const { file, size, br, gz } of files) {
    if (!hasSize(join(dir, file), size)) damaged.push(file)
    if (br > 0 && !hasSize(join(dir, `${file}.br`), br)) damaged.push(`${file}.br`)
    if (gz > 0 && !hasSize(join(dir, `${file}.gz`), gz)) damaged.push(`${file}.gz`)
    seen += 1
    if (seen % FILES_AT_A_TIME === 0) await pause()
  }
  return damaged
}

/** Synchronous: a look takes two microseconds, handing it to the thread pool many times that. */
function hasSize(path: string, size: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === size
}
