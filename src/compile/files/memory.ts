import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
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

/**
 * @param path of the file that keeps it, which grows by what is new; rows are believed up to the first
 *   that is damaged, and none of another `version`
 * @param version whatever decides, beside the input, what is made of it: code, packages, rules
 */
export function openMemory(path: string, version: string): Memory {
  const { rows: earlier, isWhole } = readRows(path, version)
  const rows = new Map<string, Buffer>()
  const made = new Map<string, Buffer>()
  return {
    recall(key) {
      const found = rows.get(key) ?? earlier.get(key)
      if (found === undefined) return null
      rows.set(key, found)
      return found
    },
    keep(key, bytes) {
      const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      rows.set(key, row)
      made.set(key, row)
    },
    save() {
      const known = bytesOf(earlier)
      const forgotten = known + bytesOf(made) - bytesOf(rows)
      if (!isWhole || forgotten > known * MOST_FORGOTTEN) writeRows(path, version, rows)
      else if (made.size > 0) tryTo(() => appendFileSync(path, pack(made)))
    },
  }
}

/** What `make` gives for an input, from memory where it was made before. */
export function remember(
  memory: Memory,
  input: string | Uint8Array,
  make: () => Uint8Array,
): Uint8Array {
  const key = digestOf(input, KEY)
  const known = memory.recall(key)
  if (known !== null) return known
  const made = make()
  memory.keep(key, made)
  return made
}

/** Keeps a value, unless JSON does not bring it back as it is. */
export function keepValue(memory: Memory, key: string, value: object): void {
  const row = JSON.stringify(value)
  if (isDeepStrictEqual(JSON.parse(row), value)) memory.keep(key, Buffer.from(row))
}

/** A memory that ends with the build. */
export function forgetful(): Memory {
  return { recall: () => null, keep: () => undefined, save: () => undefined }
}

/** Whole is a file of this version that ends with a sound row. */
function readRows(path: string, version: string) {
  const rows = new Map<string, Buffer>()
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.of()
  const start = bytes.indexOf('\n') + 1
  if (bytes.toString('utf8', 0, start) !== `${version}\n`) return { rows, isWhole: false }
  let at = start
  while (at + HEAD + KEY <= bytes.length) {
    const end = at + HEAD + bytes.readUInt32LE(at)
    const row = bytes.subarray(at + HEAD, end)
    if (end > bytes.length || crc32(row) !== bytes.readUInt32LE(at + 4)) break
    rows.set(row.toString('latin1', 0, KEY), row.subarray(KEY))
    at = end
  }
  return { rows, isWhole: at === bytes.length }
}

function bytesOf(rows: ReadonlyMap<string, Buffer>): number {
  return [...rows.values()].reduce((sum, { length }) => sum + length, 0)
}

/** Written whole before it has its name. */
function writeRows(path: string, version: string, rows: ReadonlyMap<string, Buffer>): void {
  const isWritten = tryTo(() => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.next`, `${version}\n`)
    appendFileSync(`${path}.next`, pack(rows))
    renameSync(`${path}.next`, path)
  })
  // Half of it would take the room that was lacking.
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
