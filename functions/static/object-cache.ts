import { type FileHandle, open } from 'node:fs/promises'
import type { Stored } from '../../src/domain/derived/release-file.ts'
import { type Coding, compress } from '../../src/store/compress.ts'
import { objectPath, readObject, verifyInParts } from '../../src/store/objects.ts'

/** An object as it is sent: as it lies there, or compressed. */
export interface Sendable extends Stored {
  /** The same for the same bytes, whatever release and address they are of. */
  name: string
  /** How it is compressed before it is sent; null for as it is. */
  coding: Coding | null
}

export interface ObjectCache {
  /** What is in memory already. */
  peek(sendable: Sendable): Buffer | null
  /** @throws when the object is damaged; the system's error when it cannot be read */
  read(sendable: Sendable): Promise<Buffer>
  /** Whether it is sent from the disk: the ledger of a million payments has no room in memory. */
  isLong(sendable: Sendable): boolean
  /**
   * One that is long, proven; who asks closes it.
   *
   * @throws as `read`
   */
  open(sendable: Sendable): Promise<FileHandle>
}

/** Bytes kept in memory; the oldest that nobody asked for since the last look leave first. */
const MAX_CACHED_BYTES = 256 * 1024 * 1024
/** The longest object (bytes) that is read into memory. One that must be compressed first is read at any length. */
const MAX_READ_BYTES = 8 * 1024 * 1024
/** Long objects that are remembered as proven; a release has about six. */
const MAX_PROVEN = 64

/**
 * Reads each object once while it fits, proves that it is the one that was published, and compresses it
 * for who takes that; requests for one at the same time share the work. It outlives the release being
 * served: most objects of the next are the same.
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
 * Reads a long object through when it is first asked for, and again when the system says that the file
 * has changed since; requests for one at the same time share the work.
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
