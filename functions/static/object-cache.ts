import { type FileHandle, open } from 'node:fs/promises'
import type { Stored } from '../../src/domain/derived/release-file.ts'
import { type Coding, compress } from '../../src/store/compress.ts'
import { objectPath, readObject, verifyInParts } from '../../src/store/objects.ts'

/** An object as it is sent: as stored, or compressed. */
export interface Sendable extends Stored {
  /** The same for the same bytes, whatever release and address they are of. */
  name: string
  /** How it is compressed before it is sent; null for not at all. */
  coding: Coding | null
}

export interface ObjectCache {
  /** Returns an object only if it is in memory. */
  peek(sendable: Sendable): Buffer | null
  /** @throws when the object is damaged; the system's error when it cannot be read */
  read(sendable: Sendable): Promise<Buffer>
  /** Whether it is streamed from disk: the ledger of a million payments does not fit in memory. */
  isLong(sendable: Sendable): boolean
  /**
   * A long object, verified; the caller closes it.
   *
   * @throws as `read`
   */
  open(sendable: Sendable): Promise<FileHandle>
}

/** Bytes kept in memory; the oldest not requested since the last check are evicted first. */
const MAX_CACHED_BYTES = 256 * 1024 * 1024
/** The longest object (bytes) that is read into memory. One that must be compressed first is read at any length. */
const MAX_READ_BYTES = 8 * 1024 * 1024
/** Long objects remembered as verified; a release has about six. */
const MAX_PROVEN = 64

/**
 * Reads each object once while it fits, verifies that it is the published one, and compresses it
 * for clients that accept it; concurrent requests for one share the work. It outlives the current
 * release: most objects of the next are the same.
 */
export function createObjectCache(
  outDir: string,
  { maxBytes = MAX_CACHED_BYTES, maxRead = MAX_READ_BYTES } = {},
): ObjectCache {
  const prove = createProver()
  const cached = new Map<string, { bytes: Buffer; wasAsked: boolean }>()
  const reading = new Map<string, Promise<Buffer>>()
  let size = 0
  function keep(name: string, bytes: Buffer): void {
    cached.set(name, { bytes, wasAsked: false })
    size += bytes.length
    for (const [oldest, entry] of cached) {
      if (size <= maxBytes) return
      cached.delete(oldest)
      if (entry.wasAsked) cached.set(oldest, { bytes: entry.bytes, wasAsked: false })
      else size -= entry.bytes.length
    }
  }
  async function load(sendable: Sendable): Promise<Buffer> {
    try {
      const plain = await readObject(outDir, sendable)
      const { coding, name } = sendable
      const bytes = coding === null ? plain : await compress(plain, coding)
      keep(name, bytes)
      return bytes
    } finally {
      reading.delete(sendable.name)
    }
  }
  return {
    peek({ name }) {
      const entry = cached.get(name)
      if (entry === undefined) return null
      entry.wasAsked = true
      return entry.bytes
    },
    read(sendable) {
      const begun = reading.get(sendable.name) ?? load(sendable)
      reading.set(sendable.name, begun)
      return begun
    },
    isLong: ({ coding, size }) => coding === null && size > maxRead,
    async open(sendable) {
      const file = await open(objectPath(outDir, sendable.digest))
      try {
        await prove(file, sendable)
        return file
      } catch (error) {
        await file.close()
        throw error
      }
    },
  }
}

/**
 * Verifies a long object when it is first requested, and again when its file has changed since;
 * concurrent requests for one share the work.
 */
function createProver() {
  const proven = new Map<string, Promise<void>>()
  return async function prove(file: FileHandle, stored: Stored): Promise<void> {
    const { ino, mtimeNs, ctimeNs } = await file.stat({ bigint: true })
    const state = [stored.digest, ino, mtimeNs, ctimeNs].join(' ')
    const begun = proven.get(state) ?? verifyInParts(file, stored)
    proven.set(state, begun)
    const [oldest] = proven.keys()
    if (proven.size > MAX_PROVEN && oldest !== undefined) proven.delete(oldest)
    try {
      await begun
    } catch (error) {
      proven.delete(state)
      throw error
    }
  }
}
