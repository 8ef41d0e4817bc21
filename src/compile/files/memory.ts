import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { digestOf } from './release-writer.ts'

/**
 * What builds leave to later ones: bytes by the digest of all that they are made from (`digestOf`, of
 * `KEY` characters).
 */
export interface Memory {
  /** What was kept in this build or an earlier one; null where nothing was. */
  recall(key: string): Buffer | null
  keep(key: string, bytes: Uint8Array): void
  /** Writes down what was asked for in this build, and forgets the rest. */
  save(): void
}

/** Hex digits of a key: nobody may find two texts that share one. */
export const KEY = 64

/** Bytes that say how long a row is, behind its key. */
const LENGTH = 4

/**
 * @param path of the file that keeps it; one that is damaged or of another `version` is ignored
 * @param version whatever decides, beside the input, what is made of it: code, packages, rules
 */
export function openMemory(path: string, version: string): Memory {
  const earlier = readRows(path, version)
  const rows = new Map<string, Buffer>()
  let isNew = false
  return {
    recall(key) {
      const found = rows.get(key) ?? earlier.get(key)
      if (found === undefined) return null
      rows.set(key, found)
      return found
    },
    keep(key, bytes) {
      rows.set(key, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      isNew = true
    },
    save() {
      if (isNew || rows.size !== earlier.size) writeRows(path, version, rows)
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

/** A memory that ends with the build. */
export function forgetful(): Memory {
  return { recall: () => null, keep: () => undefined, save: () => undefined }
}

/** The first line says what the rest hashes to. */
function readRows(path: string, version: string): Map<string, Buffer> {
  const rows = new Map<string, Buffer>()
  try {
    const bytes = readFileSync(path)
    const end = bytes.indexOf('\n')
    const rest = bytes.subarray(end + 1)
    if (bytes.toString('utf8', 0, end) !== toHead(version, rest)) return rows
    for (let at = 0; at < rest.length; ) {
      const start = at + KEY + LENGTH
      const next = start + rest.readUInt32LE(at + KEY)
      rows.set(rest.toString('latin1', at, at + KEY), rest.subarray(start, next))
      at = next
    }
  } catch {
    // Missing: everything is made anew.
  }
  return rows
}

/** Written whole before it has its name. Where nothing can be kept, the next build makes it again. */
function writeRows(path: string, version: string, rows: ReadonlyMap<string, Buffer>): void {
  const pieces = [...rows].flatMap(([key, bytes]) => {
    const length = Buffer.alloc(LENGTH)
    length.writeUInt32LE(bytes.length)
    return [Buffer.from(key), length, bytes]
  })
  try {
    const rest = Buffer.concat(pieces)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.next`, `${toHead(version, rest)}\n`)
    writeFileSync(`${path}.next`, rest, { flag: 'a' })
    renameSync(`${path}.next`, path)
  } catch {
    // Half of it would take the room that was lacking.
    if (existsSync(`${path}.next`)) rmSync(`${path}.next`)
  }
}

function toHead(version: string, rest: Uint8Array): string {
  return `${version} ${digestOf(rest, KEY)}`
}
