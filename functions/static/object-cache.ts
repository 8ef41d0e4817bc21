import type { Stored } from '../../src/domain/derived/release-file.ts'
import { type Coding, compress } from '../../src/store/compress.ts'
import { readObject } from '../../src/store/objects.ts'

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
}

/** Bytes kept in memory; the oldest that nobody asked for since the last look leave first. */
const MAX_CACHED_BYTES = 256 * 1024 * 1024

/**
 * Reads each object once while it fits, proves that it is the one that was published, and compresses it
 * for who takes that; requests for one at the same time share the work. It outlives the release being
 * served: most objects of the next are the same.
 */
export function createObjectCache(outDir: string, maxBytes = MAX_CACHED_BYTES): ObjectCache {
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
  }
}
