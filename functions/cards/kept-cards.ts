import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Drawn cards on disk, by key. A disk that is full or read-only costs drawings, never answers. */
export interface KeptCards {
  read(key: string): Promise<Uint8Array | null>
  keep(key: string, png: Uint8Array): Promise<void>
}

/** Some 60 KB each; beyond it the oldest go. */
const MOST_KEPT = 4096
/** Of those, this many go at once. */
const TO_FORGET = 512

export function createKeptCards(folder: string, mostKept = MOST_KEPT): KeptCards {
  const pathOf = (key: string) => join(folder, `${key}.png`)
  let count: number | undefined
  return {
    read: (key) => readFile(pathOf(key)).catch(() => null),
    async keep(key, png) {
      await mkdir(folder, { recursive: true })
      // Never half a picture under its name, however a process ends.
      const unfinished = `${pathOf(key)}.${process.pid}`
      await writeFile(unfinished, png)
      await rename(unfinished, pathOf(key))
      count = count === undefined ? (await readdir(folder)).length : count + 1
      if (count <= mostKept) return
      await forgetOldest(folder, Math.min(TO_FORGET, Math.ceil(mostKept / 8)))
      count = undefined
    },
  }
}

async function forgetOldest(folder: string, many: number): Promise<void> {
  const files = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const path = join(folder, name)
      return { path, at: (await stat(path).catch(() => null))?.mtimeMs ?? 0 }
    }),
  )
  const oldest = files.sort((a, b) => a.at - b.at).slice(0, many)
  await Promise.all(oldest.map(({ path }) => rm(path, { force: true })))
}
