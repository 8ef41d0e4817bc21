import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { crc32 } from 'node:zlib'
import { digestOf } from './release-writer.ts'

/**
 * What builds leave to later ones: bytes by the digest of all that they are made from (`digestOf`, of
 * `KEY` characters).
 */
export interface Memory {
  /** What was kept in this build or an earlier one; null where nothing was. */
  recall(key: string): Buffer | null
  keep(key: string, bytes: Uint8Array): void
  /** Writes down what was made in this build; what few ask for is forgotten. */
  save(): void
}

/** Hex digits of a key: nobody may find two texts that share one. */
export const KEY = 64

/** Before each row: how long it is, and the CRC-32 of its key and bytes. */
const HEAD = 8

/** Share of a file that nobody asked for, before it is written anew. */
const MOST_FORGOTTEN = 0.25

/** Bytes that wait to be written: what a build of 15,000 listings makes would take a tenth of its memory. */
const MOST_WAITING = 4 * 2 ** 20

/**
 * @param path of the file that keeps it, which grows by what is new; rows are believed up to the first
 *   that is damaged, and none of another `version`
 * @param version whatever decides, beside the input, what is made of it: code, packages, rules
 */
export function openMemory(path: string, version: string): Memory {
  const { rows: earlier, end } = readRows(path, version)
  const asked = new Map<string, Buffer>()
  const made = new Map<string, Buffer>()
  let waiting = 0
  const append = once(() => createAppender(path, { version, end }))
  const flush = () => {
    if (made.size > 0) append()(made)
    made.clear()
    waiting = 0
  }
  return {
    recall(key) {
      const found = made.get(key) ?? earlier.get(key)
      if (found === undefined) return null
      if (!made.has(key)) asked.set(key, found)
      return found
    },
    keep(key, bytes) {
      made.set(key, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      waiting += bytes.byteLength
      if (waiting > MOST_WAITING) flush()
    },
    save() {
      flush()
      const known = bytesOf(earlier)
      if (known - bytesOf(asked) > known * MOST_FORGOTTEN) forget(path, { version, end, asked })
    },
  }
}

/** What `make` gives for an input, from memory where it was made before. */
export function remember(
  memory: Memory,
  input: string | Uint8Array,
  make: () => Uint8Array,
): Buffer {
  const key = digestOf(input, KEY)
  const known = memory.recall(key)
  if (known !== null) return known
  const { buffer, byteOffset, byteLength } = make()
  const made = Buffer.from(buffer, byteOffset, byteLength)
  memory.keep(key, made)
  return made
}

/** Keeps a value, unless JSON does not bring it back as it is. */
export function keepValue(memory: Memory, key: string, value: object): void {
  const row = JSON.stringify(value)
  if (isDeepStrictEqual(JSON.parse(row), value)) memory.keep(key, Buffer.from(row))
}

/** What `make` gives the first time it is asked for. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** A memory that ends with the build. */
export function forgetful(): Memory {
  return { recall: () => null, keep: () => undefined, save: () => undefined }
}

/** @returns the sound rows of this version, and where they end: 0 in a file of another */
function readRows(path: string, version: string) {
  const rows = new Map<string, Buffer>()
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.of()
  const start = bytes.indexOf('\n') + 1
  if (bytes.toString('utf8', 0, start) !== `${version}\n`) return { rows, end: 0 }
  let at = start
  while (at + HEAD + KEY <= bytes.length) {
    const end = at + HEAD + bytes.readUInt32LE(at)
    const row = bytes.subarray(at + HEAD, end)
    if (end > bytes.length || crc32(row) !== bytes.readUInt32LE(at + 4)) break
    rows.set(row.toString('latin1', 0, KEY), row.subarray(KEY))
    at = end
  }
  return { rows, end: at }
}

function bytesOf(rows: ReadonlyMap<string, Buffer>): number {
  return [...rows.values()].reduce((sum, { length }) => sum + length, 0)
}

interface RowFile {
  version: string
  /** Where its sound rows end. */
  end: number
}

/** Adds rows behind the sound ones. One that fails adds no more, and leaves those as they are. */
function createAppender(path: string, { version, end }: RowFile) {
  let works = tryTo(() => {
    mkdirSync(dirname(path), { recursive: true })
    if (end === 0) writeFileSync(path, `${version}\n`)
    else truncateSync(path, end)
  })
  return (rows: ReadonlyMap<string, Buffer>) => {
    if (!works) return
    works = tryTo(() => appendFileSync(path, pack(rows)))
    // Half of it would take the room that was lacking.
    if (!works) tryTo(() => truncateSync(path, end))
  }
}

/** Keeps of the earlier rows those that were asked for: written whole before it has its name. */
function forget(
  path: string,
  { version, end, asked }: RowFile & { asked: ReadonlyMap<string, Buffer> },
): void {
  const isWritten = tryTo(() => {
    writeFileSync(`${path}.next`, `${version}\n`)
    appendFileSync(`${path}.next`, pack(asked))
    appendFileSync(`${path}.next`, readFileSync(path).subarray(end))
    renameSync(`${path}.next`, path)
  })
  if (!isWritten) tryTo(() => rmSync(`${path}.next`, { force: true }))
}

/** Where nothing can be kept, the next build makes it again. */
function tryTo(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

function pack(rows: ReadonlyMap<string, Buffer>): Buffer {
  const pieces = [...rows].flatMap(([key, bytes]) => {
    const [head, name] = [Buffer.alloc(HEAD), Buffer.from(key)]
    head.writeUInt32LE(name.length + bytes.length)
    head.writeUInt32LE(crc32(bytes, crc32(name)), 4)
    return [head, name, bytes]
  })
  return Buffer.concat(pieces)
}
