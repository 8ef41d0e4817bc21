import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { Stored } from '../../domain/derived/release-file.ts'
import { GZIP_LEVEL } from '../../store/compress.ts'
import { type BuildCache, memoize, noCache } from '../files/build-cache.ts'
import type { ReleaseFiles } from '../files/release-files.ts'

/** RFC 1952: magic, deflate, no flags, no time, written on Unix. */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)
/** An empty last block, in fixed codes. */
const LAST_BLOCK = Uint8Array.of(3, 0)
const DEFLATE = { level: GZIP_LEVEL, finishFlush: constants.Z_FULL_FLUSH }

/**
 * Begins a file of many lines and its compressed copy, which also goes to clients that accept gzip
 * and ask for the other. Each part is compressed on its own, so that a change leaves the others as
 * they are, and is written before the next one is made: a file may be larger than memory.
 *
 * @param urls where the two are served
 * @param cache of compressed parts
 */
export function beginLines(
  files: Pick<ReleaseFiles, 'begin'>,
  urls: { ndjson: string; gz: string },
  cache: BuildCache = noCache(),
) {
  const plain = files.begin(urls.ndjson.slice(1))
  const gz = files.begin(urls.gz.slice(1))
  let [checksum, bytes] = [0, 0]
  gz.write(GZIP_HEADER)
  return {
    write(part: Uint8Array): void {
      plain.write(part)
      gz.write(memoize(cache, part, () => deflateRawSync(part, DEFLATE)))
      checksum = crc32(part, checksum)
      bytes += part.length
    },
    finish() {
      const ending = Buffer.alloc(8)
      ending.writeUInt32LE(checksum, 0)
      ending.writeUInt32LE(bytes % 2 ** 32, 4)
      gz.write(LAST_BLOCK)
      gz.write(ending)
      return {
        ndjson: describeFile(urls.ndjson, plain.finish()),
        gz: describeFile(urls.gz, gz.finish()),
      }
    },
  }
}

export function describeFile(url: string, { size, digest }: Stored) {
  return { url, bytes: size, sha256: digest }
}
