import { createHash } from 'node:crypto'
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
  const bytes = await readFile(join(dir, name))
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
  return bytes !== null && createHash('sha256').update(bytes).digest('hex').startsWith(digest)
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
