import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { StaticFile } from '../../src/domain/wire/static-file.ts'

export interface Variant {
  name: string
  etag: string
  size: number
  coding: 'br' | 'gzip' | null
}

export class DamagedFileError extends Error {
  override name = 'DamagedFileError'
}

/**
 * A file up to this long (bytes) is read at once: it takes some microseconds where the system has it
 * in memory, and handing it to the thread pool and back takes a tenth of a millisecond each time.
 */
const SHORT_BYTES = 64 * 1024

/**
 * Reads a file and proves that it is the one that was published. A compressed one is decoded for
 * it: what counts is what the client will see.
 *
 * @throws DamagedFileError when it has other bytes; the system's error when it cannot be read
 */
export async function readVerified(
  dir: string,
  file: StaticFile,
  { name, size, coding }: Variant,
): Promise<Buffer> {
  const path = join(dir, name)
  const bytes = size <= SHORT_BYTES ? readFileSync(path) : await readFile(path)
  if (bytes.length !== size)
    throw new DamagedFileError(
      `${name} has ${bytes.length} bytes, but ${size} were published: build again`,
    )
  if (!hasDigest(decode(bytes, coding, file.size), file.digest))
    throw new DamagedFileError(`${name} has other bytes than were published: build again`)
  return bytes
}

/** @param digest hex SHA-256 or its beginning */
export function hasDigest(bytes: Uint8Array | null, digest: string): boolean {
  return bytes !== null && hash('sha256', bytes, 'hex').startsWith(digest)
}

/** Null when it cannot be decoded into that many bytes. */
function decode(bytes: Buffer, coding: Variant['coding'], size: number): Buffer | null {
  if (coding === null) return bytes
  try {
    const options = { maxOutputLength: Math.max(1, size) }
    return coding === 'br' ? brotliDecompressSync(bytes, options) : gunzipSync(bytes, options)
  } catch {
    return null
  }
}
