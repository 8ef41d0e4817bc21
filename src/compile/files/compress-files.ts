import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { StaticFile } from '../../domain/wire/static-file.ts'
import { findContentType, isCompressible } from '../../domain/wire/static-file.ts'
import { type ListedFile, toListedFile } from './manifest.ts'
import { createReleaseWriter, digestOf, listFiles } from './release-writer.ts'

/** What a server must know of each file below `root`, none of them compressed; sorted by path. */
export function describeFiles(root: string): ListedFile[] {
  return listFiles(root).map((file) =>
    toListedFile(toEntry(file, readFileSync(join(root, file))), null),
  )
}

/** Smaller files travel as they are. */
const MIN_COMPRESSED_BYTES = 1024

/** Fast enough for 50,000 files on two cores; the last percent of size would cost minutes. */
const BROTLI_QUALITY = 5
export const GZIP_LEVEL = 6

/** The few files this long are read whole by programs: they get the best there is. */
const LONG_FILE_BYTES = 64 * 1024
const LONG_FILE_LEVEL = 9

/**
 * A window that holds the whole file, and no more: brotli finds in 2^16 bytes by other means, which are
 * quicker for small files and find as much. Few files are larger than 2^18.
 */
const WINDOW_BITS = 16
const LONG_WINDOW_BITS = 18

/** Everything that decides what the compressed bytes are: copies of another making are not reused. */
export const COMPRESSION = [
  BROTLI_QUALITY,
  WINDOW_BITS,
  LONG_WINDOW_BITS,
  process.versions.brotli,
  GZIP_LEVEL,
  LONG_FILE_LEVEL,
  process.versions.zlib,
].join(' ')

/** A file to be written, with compressed copies beside it. */
export interface FreshFile {
  /** Path below the folder. */
  file: string
  bytes: Uint8Array
  /** Of the bytes, see `digestOf`. */
  digest: string
  /** Its `.gz` is there already. */
  hasCopy: boolean
}

/**
 * Writes files below a folder, compressed beside themselves (`.br`, `.gz`): none may be there. Gives what
 * a server must know of each, and what the copies hash to.
 *
 * Synchronous on purpose: a page takes half a millisecond, and handing it to zlib's thread pool and
 * back took four times that.
 */
export function createCompressedWriter(root: string): (made: FreshFile) => ListedFile {
  // Never into a link: the release before has the same bytes.
  const { write } = createReleaseWriter(root, 'wx')
  return ({ file, bytes, digest, hasCopy }) => {
    const entry = toEntry(file, bytes, digest)
    write(file, bytes)
    if (hasCopy) {
      const own = readFileSync(join(root, `${file}.gz`))
      return toListedFile({ ...entry, gz: own.length }, { file, br: '', gz: digestOf(own) })
    }
    if (bytes.length < MIN_COMPRESSED_BYTES || !isCompressible(entry.type))
      return toListedFile(entry, null)
    const { br, gz } = compress(bytes)
    write(`${file}.br`, br)
    write(`${file}.gz`, gz)
    return toListedFile(
      { ...entry, br: br.length, gz: gz.length },
      { file, br: digestOf(br), gz: digestOf(gz) },
    )
  }
}

function compress(bytes: Uint8Array) {
  const isLong = bytes.length >= LONG_FILE_BYTES
  // What zlib sets aside by itself is many times what most copies take: the collector would run for it.
  const chunkSize = Math.ceil(bytes.length / 2)
  const br = brotliCompressSync(bytes, {
    chunkSize,
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: isLong ? LONG_WINDOW_BITS : WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
  return { br, gz: gzipSync(bytes, { chunkSize, level: isLong ? LONG_FILE_LEVEL : GZIP_LEVEL }) }
}

function toEntry(file: string, bytes: Uint8Array, digest = digestOf(bytes)): StaticFile {
  return { file, type: findContentType(file), digest, size: bytes.length, br: 0, gz: 0 }
}
