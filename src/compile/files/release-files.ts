import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Stored } from '../../domain/derived/release-file.ts'
import type { Objects } from '../../store/objects.ts'
import type { ListedFile } from '../../store/release-list.ts'
import { type BuildCache, KEY } from './build-cache.ts'
import { digestOf, listFiles, type ReleaseWriter } from './release-writer.ts'

/** By paths. */
type Contents = readonly (readonly [file: string, content: string | Uint8Array])[]

/** A folder of the release being built: each file written is an object and a row of the list. */
export interface ReleaseFiles extends ReleaseWriter {
  /** Lists the files that an earlier build made from `key`; false where one of them is missing. */
  reuse(key: string): boolean
  /** Writes a file that depends only on `key`. */
  writeMade(key: string, made: Contents): void
  /** Adds every file of a folder. */
  writeFolder(from: string): void
  /** A file too long for memory, in parts; it is listed once it is finished. */
  begin(file: string): { write(part: Uint8Array): void; finish(): Stored }
  /** A file with the same bytes as a listed one. */
  link(file: string, stored: Stored): void
  stored(file: string): Stored
  /** Paths below the folder, sorted. */
  names(): string[]
}

/** Begins the list of a release. */
export function createReleaseFiles(objects: Objects, cache: BuildCache) {
  const listed = new Map<string, Stored>()
  return {
    /** Sorted by path. */
    list: (): ListedFile[] =>
      [...listed]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([path, { size, digest }]) => ({ path, size, digest })),
    /** @param folder `public`, `data`, `server`, `functions` or `deploy` */
    in(folder: string): ReleaseFiles {
      const toPath = (file: string) => `${folder}/${file}`
      const add = (file: string, stored: Stored) => {
        listed.set(toPath(file), stored)
        return stored
      }
      const write = (file: string, content: string | Uint8Array) => add(file, objects.put(content))
      const keyOf = (text: string) => digestOf(`${folder} ${text}`, KEY)
      return {
        write: (file, content) => void write(file, content),
        writeJson: (file, value) => void write(file, `${JSON.stringify(value)}\n`),
        reuse(key) {
          // JSON.parse is typed `any`; `writeMade` wrote the row from this very type.
          const row = cache.get(keyOf(key))
          const made: [string, number, string][] = row === null ? [] : JSON.parse(row.toString())
          if (made.length === 0 || !made.every(([, , digest]) => objects.has(digest))) return false
          for (const [file, size, digest] of made) add(file, { size, digest })
          return true
        },
        writeMade(key, contents) {
          const made = contents.map(([file, content]) => {
            const { size, digest } = write(file, content)
            return [file, size, digest]
          })
          cache.set(keyOf(key), Buffer.from(JSON.stringify(made)))
        },
        writeFolder(from) {
          for (const file of listFiles(from)) write(file, readFileSync(join(from, file)))
        },
        begin(file) {
          const { write, finish } = objects.begin()
          return { write, finish: () => add(file, finish()) }
        },
        link: (file, stored) => void add(file, stored),
        stored(file) {
          const stored = listed.get(toPath(file))
          if (stored === undefined) throw new Error(`expected ${toPath(file)} to be written`)
          return stored
        },
        names: () =>
          [...listed.keys()]
            .filter((path) => path.startsWith(`${folder}/`))
            .map((path) => path.slice(folder.length + 1))
            .sort(),
      }
    },
  }
}
