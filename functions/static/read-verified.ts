import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** A file as it lies on the disk: the published one, or a compressed copy of it. */
export interface Variant {
  name: string
  size: number
  digest: string
}

/**
 * A file up to this long (bytes) is read at once: it takes some microseconds where the system has it
 * in memory, and handing it to the thread pool and back takes a tenth of a millisecond each time.
 */
const SHORT_BYTES = 64 * 1024

/**
 * Reads a file and proves that it is the one that was published.
 *
 * @throws when it has other bytes; the system's error when it cannot be read
 */
export async function readVerified(dir: string, { name, size, digest }: Variant): Promise<Buffer> {
  const path = `${dir}/${name}`
  const bytes = size <= SHORT_BYTES ? readFileSync(path) : await readFile(path)
  if (bytes.length !== size)
    throw new Error(`${name} has ${bytes.length} bytes, but ${size} were published: build again`)
  if (!hasDigest(bytes, digest))
    throw new Error(`${name} has other bytes than were published: build again`)
  return bytes
}

/** @param digest hex SHA-256 or its beginning */
export function hasDigest(bytes: Uint8Array, digest: string): boolean {
  return digest !== '' && hash('sha256', bytes, 'hex').startsWith(digest)
}
