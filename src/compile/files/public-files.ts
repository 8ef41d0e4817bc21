import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ListedFile, readEntry } from './carry-over.ts'
import { KEY, type Memory } from './memory.ts'
import { digestOf, listFiles, type ReleaseWriter, removeWithCopies } from './release-writer.ts'

type Contents = Readonly<Record<string, string | Uint8Array>>

/** The public folder of a release, begun with what was carried over from the one before. */
export interface PublicFiles extends ReleaseWriter {
  /** Leaves files as they were carried over, if all that memory says was made from `key` is there. */
  keep(key: string): boolean
  /** Writes what is made from `key` and nothing else, and remembers it. */
  writeMade(key: string, made: Contents): void
  /** Adds every file of a folder. */
  writeFolder(from: string): void
  /** Removes what was carried over and nobody asked for: call it last. */
  finish(): void
  /** Carried over and kept, in the order given. */
  kept(): ListedFile[]
  /** Written anew, without compressed copies yet. */
  fresh(): string[]
}

export function createPublicFiles(
  root: string,
  carried: readonly ListedFile[],
  memory: Memory,
): PublicFiles {
  const earlier = new Map(carried.map((each) => [each.file, each]))
  const kept = new Set<string>()
  const fresh = new Set<string>()
  const made = new Set<string>()
  const isThere = ([file, digest]: DigestRow) =>
    earlier.get(file)?.row.includes(`"digest":"${digest}"`) === true
  function keep(key: string): boolean {
    const row = memory.recall(digestOf(key, KEY))
    // JSON.parse is typed `any`; the row was written from this very type.
    const files: DigestRow[] = JSON.parse(row?.toString() ?? '[]')
    if (row === null || !files.every(isThere)) return false
    for (const [file] of files) kept.add(file)
    return true
  }
  function writeMade(key: string, contents: Contents): void {
    const rows = Object.entries(contents).map(([file, content]): DigestRow => {
      write(file, content)
      return [file, digestOf(content)]
    })
    memory.keep(digestOf(key, KEY), Buffer.from(JSON.stringify(rows)))
  }
  function write(file: string, content: string | Uint8Array): void {
    const known = earlier.get(file)
    const entry = known && readEntry(known)
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    if (entry?.size === bytes.length && entry.digest === digestOf(bytes, entry.digest.length))
      return void kept.add(file)
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
    writeMade,
    writeFolder(from) {
      for (const file of listFiles(from)) write(file, readFileSync(join(from, file)))
    },
    finish() {
      for (const file of earlier.keys()) if (!kept.has(file)) removeWithCopies(root, file)
    },
    kept: () => carried.filter(({ file }) => kept.has(file)),
    fresh: () => [...fresh].sort(),
  }
}

type DigestRow = [file: string, digest: string]

function isCopy(file: string): boolean {
  return /\.(?:br|gz)$/.test(file)
}
