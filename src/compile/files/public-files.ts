import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ListedFile } from './carry-over.ts'
import type { FreshFile } from './compress-files.ts'
import { KEY, type Memory } from './memory.ts'
import {
  createReleaseWriter,
  digestOf,
  listFiles,
  type ReleaseWriter,
  removeWithCopies,
} from './release-writer.ts'

/** A compressed copy that its writer makes itself. */
const COPY = '.gz'

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
}

/**
 * @param writeFresh writes what was not carried over. Of `x` and `x.gz` the second is written first, here:
 *   it is a copy, which nobody names.
 */
export function createPublicFiles(
  root: string,
  carried: readonly ListedFile[],
  memory: Memory,
  writeFresh: (made: FreshFile) => void,
): PublicFiles {
  const earlier = new Map(carried.map((each) => [each.file, each]))
  const kept = new Set<string>()
  const copies = new Set<string>()
  const copyWriter = createReleaseWriter(root, 'wx')
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
    const rows = Object.entries(contents).map(
      ([file, content]): DigestRow => [file, write(file, content)],
    )
    memory.keep(digestOf(key, KEY), Buffer.from(JSON.stringify(rows)))
  }
  function write(file: string, content: string | Uint8Array): string {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    const digest = digestOf(bytes)
    if (isThere([file, digest])) kept.add(file)
    else if (file.endsWith(COPY)) {
      copies.add(file)
      rmSync(join(root, file), { force: true })
      copyWriter.write(file, bytes)
    } else writeAnew({ file, bytes, digest, hasCopy: copies.has(`${file}${COPY}`) })
    return digest
  }
  function writeAnew(made: FreshFile): void {
    const { file, hasCopy } = made
    // The folder stays: a thread may write beside it.
    if (earlier.delete(file))
      for (const ending of ['', '.br', ...(hasCopy ? [] : [COPY])])
        rmSync(join(root, `${file}${ending}`), { force: true })
    writeFresh(made)
  }
  return {
    write: (file, content) => void write(file, content),
    writeJson: (file, value) => void write(file, `${JSON.stringify(value)}\n`),
    keep,
    writeMade,
    writeFolder(from) {
      for (const file of listFiles(from)) write(file, readFileSync(join(from, file)))
    },
    finish() {
      for (const file of earlier.keys()) if (!kept.has(file)) removeWithCopies(root, file)
    },
    kept: () => carried.filter(({ file }) => kept.has(file)),
  }
}

type DigestRow = [file: string, digest: string]
