import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib'
import { findContentType, isCompressible } from '../domain/wire/static-file.ts'

/** Codings, by file extension. */
export const COPY_ENDINGS = ['br', 'gz'] as const
export type Coding = (typeof COPY_ENDINGS)[number]

/** Smaller files travel as they are. */
const MIN_COMPRESSED_BYTES = 1024

/** Fast enough for 50,000 files on two cores; the last percent of size would cost minutes. */
const BROTLI_QUALITY = 5
export const GZIP_LEVEL = 6

/** The few files this long are read whole by programs: they get the best compression. */
const LONG_FILE_BYTES = 64 * 1024
const LONG_FILE_LEVEL = 9

/**
 * A window that just holds the whole file: up to 2^16 bytes brotli searches in another way, which
 * is faster for small files and finds as much. Few files are larger than 2^18.
 */
const WINDOW_BITS = 16
const LONG_WINDOW_BITS = 18

/** Whether a file of this name and size is sent compressed to clients that accept it. */
export function hasCopies(file: string, size: number): boolean {
  return size >= MIN_COMPRESSED_BYTES && isCompressible(findContentType(file))
}

/** A page takes a quarter of a millisecond: the round trip to the thread pool would double that. */
export function compressSync(bytes: Uint8Array, coding: Coding): Buffer {
  return coding === 'br'
    ? brotliCompressSync(bytes, toBrotli(bytes))
    : gzipSync(bytes, toGzip(bytes))
}

/** The same bytes; a long file does not block others. */
export async function compress(bytes: Uint8Array, coding: Coding): Promise<Buffer> {
  if (bytes.length < LONG_FILE_BYTES) return compressSync(bytes, coding)
  return coding === 'br'
    ? promisify(brotliCompress)(bytes, toBrotli(bytes))
    : promisify(gzip)(bytes, toGzip(bytes))
}

function toBrotli(bytes: Uint8Array) {
  return {
    chunkSize: toChunkSize(bytes),
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: isLong(bytes) ? LONG_WINDOW_BITS : WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  }
}

function toGzip(bytes: Uint8Array) {
  return { chunkSize: toChunkSize(bytes), level: isLong(bytes) ? LONG_FILE_LEVEL : GZIP_LEVEL }
}

function isLong({ length }: Uint8Array): boolean {
  return length >= LONG_FILE_BYTES
}

/** zlib's default buffers are many times most copies: they would trigger the collector. */
function toChunkSize({ length }: Uint8Array): number {
  return Math.max(64, Math.ceil(length / 2))
}
