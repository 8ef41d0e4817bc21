import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { StaticFile } from '../../domain/wire/static-file.ts'
import { findContentType, isCompressible } from '../../domain/wire/static-file.ts'
import { type ListedFile, toListedFile } from './carry-over.ts'
import { FILES_WORKER, inThread } from './in-thread.ts'
import { digestOf, listFiles } from './release-writer.ts'

const MAX_WORKERS = 4

/** Below this a worker takes longer to start than to finish. */
const FILES_PER_WORKER = 500

/** Compresses files beside themselves (`.br`, `.gz`); `files` are paths below `root`. */
export async function compressFiles(root: string, files: string[]): Promise<ListedFile[]> {
  const count = Math.min(
    MAX_WORKERS,
    availableParallelism(),
    Math.floor(files.length / FILES_PER_WORKER),
  )
  if (count < 2) return files.map((file) => compressFile(root, file))
  // Dealt out one by one: pages lie together and are larger than the rest.
  const shares = Array.from({ length: count }, (_, i) => files.filter((_, j) => j % count === i))
  const ended = `${root}: a thread ended before its files`
  const described = await Promise.all(
    shares.map((files) =>
      inThread<ListedFile[]>(FILES_WORKER, { work: 'compress', root, files }, ended),
    ),
  )
  return described.flat()
}

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

/** Few pages are larger than 2^18 bytes, and the default window makes each small file dearer. */
const BROTLI_WINDOW_BITS = 18

/** Everything that decides what the compressed bytes are: copies of another making are not reused. */
export const COMPRESSION = [
  BROTLI_QUALITY,
  BROTLI_WINDOW_BITS,
  process.versions.brotli,
  GZIP_LEVEL,
  LONG_FILE_LEVEL,
  process.versions.zlib,
].join(' ')

/**
 * Compresses one file beside itself (`.br`, `.gz`), and says what a server must know of it, and what
 * the copies hash to.
 *
 * Synchronous on purpose: a page takes half a millisecond, and handing it to zlib's thread pool and
 * back took four times that.
 */
export function compressFile(root: string, file: string): ListedFile {
  const path = join(root, file)
  const bytes = readFileSync(path)
  const entry = toEntry(file, bytes)
  // Its writer made its copy too.
  const own = statSync(`${path}.gz`, { throwIfNoEntry: false })
  if (own !== undefined) {
    const copies = { file, br: '', gz: digestOf(readFileSync(`${path}.gz`)) }
    return toListedFile({ ...entry, gz: own.size }, copies)
  }
  if (bytes.length < MIN_COMPRESSED_BYTES || !isCompressible(entry.type))
    return toListedFile(entry, null)
  const br = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
  const gz = gzipSync(bytes, {
    level: bytes.length >= LONG_FILE_BYTES ? LONG_FILE_LEVEL : GZIP_LEVEL,
  })
  writeFileSync(`${path}.br`, br)
  writeFileSync(`${path}.gz`, gz)
  return toListedFile(
    { ...entry, br: br.length, gz: gz.length },
    { file, br: digestOf(br), gz: digestOf(gz) },
  )
}

function toEntry(file: string, bytes: Buffer): StaticFile {
  const type = findContentType(file)
  return { file, type, digest: digestOf(bytes), size: bytes.length, br: 0, gz: 0 }
}
