import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { CarriedFile } from './carry-over.ts'
import { digestOf, listFiles, type ReleaseWriter, removeWithCopies } from './release-writer.ts'

/** The public folder of a release, begun with what was carried over from the one before. */
export interface PublicFiles extends ReleaseWriter {
  /** Leaves a file as it was carried over; false where it was not. */
  keep(file: string): boolean
  /** Adds every file of a folder. */
  writeFolder(from: string): void
  /** Removes what was carried over and nobody asked for: call it last. */
  finish(): void
  /** Carried over and kept. */
  kept(): CarriedFile[]
  /** Written anew, without compressed copies yet. */
  fresh(): string[]
}

export function createPublicFiles(root: string, carried: readonly CarriedFile[]): PublicFiles {
  const earlier = new Map(carried.map((file) => [file.entry.file, file]))
  const kept = new Map<string, CarriedFile>()
  const fresh = new Set<string>()
  const made = new Set<string>()
  function keep(file: string): boolean {
    const found = earlier.get(file)
    if (found !== undefined) kept.set(file, found)
    return found !== undefined
  }
  function write(file: string, content: string | Uint8Array): void {
    const entry = earlier.get(file)?.entry
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    if (entry?.size === bytes.length && entry.digest === digestOf(bytes, entry.digest.length))
      return void keep(file)
    const path = join(root, file)
    const folder = dirname(path)
    if (entry !== undefined) {
      removeWithCopies(root, file)
      made.delete(folder)
    }
    earlier.delete(file)
    if (!made.has(folder)) mkdirSync(folder, { recursive: true })
    made.add(folder)
    // A file with another's copy beside it is named by nobody, so what was linked there goes first.
    if (isCopy(file)) rmSync(path, { force: true })
    else fresh.add(file)
    // Never into a link: the release before has the same bytes.
    writeFileSync(path, bytes, { flag: 'wx' })
  }
  return {
    write,
    writeJson: (file, value) => write(file, `${JSON.stringify(value)}\n`),
    keep,
    writeFolder(from) {
      for (const file of listFiles(from)) write(file, readFileSync(join(from, file)))
    },
    finish() {
      for (const file of earlier.keys()) if (!kept.has(file)) removeWithCopies(root, file)
    },
    kept: () => [...kept.values()],
    fresh: () => [...fresh].sort(),
  }
}

function isCopy(file: string): boolean {
  return /\.(?:br|gz)$/.test(file)
}
