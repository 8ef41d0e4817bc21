import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Carried } from './carry-over.ts'
import type { FreshFile } from './compress-files.ts'
import { type FileList, type ListedFile, type Manifest, mergeLines, readLines } from './manifest.ts'
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
  /** Writes what is made from `key` and nothing else. */
  writeMade(key: string, made: Contents): void
  /** Adds every file of a folder. */
  writeFolder(from: string): void
  /**
   * Removes what was carried over and nobody asked for, lists the rest, and remembers what each is made
   * from: call it when all is written.
   *
   * @param fresh what was written anew
   */
  list(fresh: readonly ListedFile[]): FileList
}

/** What becomes of a file that was carried over. */
const [UNASKED, KEPT, GONE] = [0, 1, 2]

/**
 * @param writeFresh writes what was not carried over. Of `x` and `x.gz` the second is written first, here:
 *   it is a copy, which nobody names.
 */
export function createPublicFiles(
  root: string,
  carried: Carried,
  memory: Memory,
  writeFresh: (made: FreshFile) => void,
): PublicFiles {
  const earlier = readLines(carried)
  const fates = new Uint8Array(earlier.count)
  const { keys, keyOf } = recallKeys(memory, carried)
  for (const place of carried.left) {
    fates[place] = GONE
    keys.delete(keyOf[place] ?? '')
  }
  const asked = new Set<string>()
  /** Of files that were written, the key; empty without one. */
  const written = new Map<string, string>()
  const copies = new Set<string>()
  const copyWriter = createReleaseWriter(root, 'wx')
  function keep(text: string): boolean {
    const key = digestOf(text, KEY)
    if (!keys.has(key)) return false
    asked.add(key)
    return true
  }
  function write(file: string, content: string | Uint8Array, key = ''): void {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    const digest = digestOf(bytes)
    const place = earlier.find(file)
    const isKnown = earlier.fileAt(place) === file && fates[place] !== GONE
    written.set(file, key)
    if (isKnown && earlier.entryAt(place).digest === digest) fates[place] = KEPT
    else if (file.endsWith(COPY)) {
      copies.add(file)
      if (holds(join(root, file), bytes)) return
      rmSync(join(root, file), { force: true })
      copyWriter.write(file, bytes)
    } else {
      const made = { file, bytes, digest, hasCopy: copies.has(`${file}${COPY}`) }
      if (isKnown) removeFormer(made)
      if (isKnown) fates[place] = GONE
      writeFresh(made)
    }
  }
  /** The folder stays: a thread may write beside it. */
  function removeFormer({ file, hasCopy }: FreshFile): void {
    for (const ending of ['', '.br', ...(hasCopy ? [] : [COPY])])
      rmSync(join(root, `${file}${ending}`), { force: true })
  }
  function removeUnasked(): void {
    for (let place = 0; place < earlier.count; place++) {
      if (fates[place] !== UNASKED) continue
      if (asked.has(keyOf[place] ?? '')) fates[place] = KEPT
      else removeWithCopies(root, earlier.fileAt(place))
    }
  }
  return {
    write: (file, content) => write(file, content),
    writeJson: (file, value) => write(file, `${JSON.stringify(value)}\n`),
    keep,
    writeMade(text, contents) {
      const key = digestOf(text, KEY)
      for (const [file, content] of Object.entries(contents)) write(file, content, key)
    },
    writeFolder(from) {
      for (const file of listFiles(from)) write(file, readFileSync(join(from, file)))
    },
    list(fresh) {
      removeUnasked()
      const { places, ...merged } = mergeLines(earlier, (place) => fates[place] === KEPT, fresh)
      const keyAt = (file: string, at: number) => written.get(file) ?? keyOf[places[at] ?? 0] ?? ''
      keepKeys(memory, { files: merged.files, madeOf: merged.names.map(keyAt) })
      return merged
    },
  }
}

/** Whether a file is there with these bytes. */
function holds(path: string, bytes: Uint8Array): boolean {
  return existsSync(path) && readFileSync(path).equals(bytes)
}

/** Keys that files were made from, and which of them each file was made from, by its place. */
interface KeyRow {
  keys: string[]
  places: number[]
}

/** Under the name of the manifest whose lines they belong to. */
function keepKeys(
  memory: Memory,
  { files, madeOf }: { files: Uint8Array; madeOf: readonly string[] },
): void {
  const numbers = new Map<string, number>()
  const places = madeOf.map((key) => {
    const number = numbers.get(key) ?? numbers.size
    numbers.set(key, number)
    return number
  })
  const row: KeyRow = { keys: [...numbers.keys()], places }
  memory.keep(nameOf(files), Buffer.from(JSON.stringify(row)))
}

function recallKeys(memory: Memory, { files }: Pick<Manifest, 'files'>) {
  const row = memory.recall(nameOf(files))
  // JSON.parse is typed `any`; the row was written from this very type.
  const { keys, places }: KeyRow = JSON.parse(row?.toString() ?? '{"keys":[],"places":[]}')
  const known = new Set(keys)
  known.delete('')
  return { keys: known, keyOf: places.map((number) => keys[number] ?? '') }
}

function nameOf(files: Uint8Array): string {
  return digestOf(`made of ${digestOf(files, KEY)}`, KEY)
}
