import { createHash, type Hash, hash } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { type FileHandle, readFile } from 'node:fs/promises'
import type { Stored } from '../domain/derived/release-file.ts'

/**
 * Objects are in `OUT_DIR/objects`, one file each, named by the SHA-256 of its bytes. Security
 * model: a reader verifies the name first, so a change by a disk, a copy or a person is found
 * before anything is sent. Known limitation: an unread object is only checked by its length.
 */
export function objectPath(outDir: string, digest: string): string {
  return `${outDir}/objects/${folderOf(digest)}/${digest}`
}

/** One of 256. */
function folderOf(digest: string): string {
  return digest.slice(0, 2)
}

export function nameBytes(bytes: string | Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}

/** Whether an object exists, by its length: two microseconds each. */
export function isThere(outDir: string, { digest, size }: Stored): boolean {
  return statSync(objectPath(outDir, digest), { throwIfNoEntry: false })?.size === size
}

/**
 * An object up to this long (bytes) is read at once: it takes some microseconds where the system
 * has it in memory, and the round trip to the thread pool takes a tenth of a millisecond each time.
 */
const SHORT_BYTES = 64 * 1024

/** @throws when it has other bytes than its name says; the system's error when it cannot be read */
export async function readObject(outDir: string, stored: Stored): Promise<Buffer> {
  if (stored.size <= SHORT_BYTES) return readObjectSync(outDir, stored)
  return verify(await readFile(objectPath(outDir, stored.digest)), stored)
}

/** @throws as `readObject` */
export function readObjectSync(outDir: string, stored: Stored): Buffer {
  return verify(readFileSync(objectPath(outDir, stored.digest)), stored)
}

/**
 * Reads an open object once in parts, for one too long for memory.
 *
 * @throws as `readObject`
 */
export async function verifyInParts(file: FileHandle, stored: Stored): Promise<void> {
  const digest = createHash('sha256')
  let size = 0
  for await (const part of file.createReadStream({ start: 0, autoClose: false })) {
    digest.update(part)
    size += part.length
  }
  compare(stored, { size, digest: digest.digest('hex') })
}

function verify(bytes: Buffer, stored: Stored): Buffer {
  compare(stored, { size: bytes.length, digest: nameBytes(bytes) })
  return bytes
}

function compare({ digest, size }: Stored, found: Stored): void {
  if (found.size !== size)
    throw new Error(`object ${digest} has ${found.size} of ${size} bytes: build again`)
  if (found.digest !== digest)
    throw new Error(`object ${digest} has other bytes than its name says: build again`)
}

export interface Objects {
  /** Whether it was known from the start, or has been put since. */
  has(digest: string): boolean
  /** Writes it unless it exists. */
  put(content: string | Uint8Array): Stored
  /** One too long for memory, in parts. It exists once it is finished. */
  begin(): { write(part: Uint8Array): void; finish(): Stored }
}

/** @param known names of existing objects: they are not written again */
export function openObjects(outDir: string, known: Set<string>): Objects {
  const unfinished = `${outDir}/objects/.next`
  mkdirSync(`${outDir}/objects`, { recursive: true })
  const folders = new Set(readdirSync(`${outDir}/objects`))
  // Nobody reads any yet: what a killed build leaves half written, the next one writes again.
  const isFirst = folders.size === 0
  let begun = 0
  /** The path of an object. Folders are made as they are needed: a small release needs few. */
  const makeRoom = (digest: string) => {
    const folder = folderOf(digest)
    if (!folders.has(folder)) mkdirSync(`${outDir}/objects/${folder}`, { recursive: true })
    folders.add(folder)
    return objectPath(outDir, digest)
  }
  const place = (stored: Stored, from: string) => {
    const path = makeRoom(stored.digest)
    if (from !== path) renameSync(from, path)
    known.add(stored.digest)
    return stored
  }
  return {
    has: (digest) => known.has(digest),
    put(content) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content
      const stored = { size: bytes.length, digest: nameBytes(bytes) }
      if (known.has(stored.digest)) return stored
      const path = isFirst ? makeRoom(stored.digest) : unfinished
      if (bytes.length < PIECE_BYTES) writeFileSync(path, bytes)
      else writeBytes(path, bytes)
      return place(stored, path)
    },
    begin() {
      begun += 1
      const path = `${unfinished}.${begun}`
      const digest: Hash = createHash('sha256')
      const file = openSync(path, 'w')
      let size = 0
      return {
        write(part) {
          writeAll(file, part)
          digest.update(part)
          size += part.length
        },
        finish() {
          closeSync(file)
          const stored = { size, digest: digest.digest('hex') }
          if (!known.has(stored.digest)) return place(stored, path)
          rmSync(path)
          return stored
        },
      }
    },
  }
}

/** Node refuses to write 2 GiB or more at once, which the index of a million listings comes near. */
const PIECE_BYTES = 2 ** 30

/** Writes a file of any size. */
export function writeBytes(path: string, bytes: Uint8Array, pieceBytes = PIECE_BYTES): void {
  const file = openSync(path, 'w')
  try {
    writeAll(file, bytes, pieceBytes)
  } finally {
    closeSync(file)
  }
}

function writeAll(file: number, bytes: Uint8Array, pieceBytes = PIECE_BYTES): void {
  for (let at = 0; at < bytes.length; )
    at += writeSync(file, bytes, at, Math.min(pieceBytes, bytes.length - at))
}
