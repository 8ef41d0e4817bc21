import { readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { findContentType, isCompressible } from '../domain/content-type.ts'
import type { StaticFile } from '../domain/static-file.ts'
import { digestOf } from './release-writer.ts'

/** contract §4: smaller files travel as they are. */
const MIN_COMPRESSED_BYTES = 1024

/** Fast enough for 50,000 files on two cores; the last percent of size would cost minutes. */
const BROTLI_QUALITY = 5
const GZIP_LEVEL = 6

/** zlib works in the thread pool: enough in flight to keep it busy, few enough to hold in memory. */
const IN_FLIGHT = 16

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

/**
 * Compresses every file below `root` beside itself (`.br`, `.gz`) and returns what a server must
 * know of each, sorted by path.
 */
export async function compressFiles(root: string): Promise<StaticFile[]> {
  const files = listFiles(root)
  const described: StaticFile[] = new Array(files.length)
  let next = 0
  const work = async () => {
    for (let i = next++; i < files.length; i = next++)
      described[i] = await compressFile(root, files[i] ?? '')
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, work))
  return described
}

async function compressFile(root: string, file: string): Promise<StaticFile> {
  const path = join(root, file)
  const bytes = await readFile(path)
  const type = findContentType(file)
  const entry = { file, type, digest: digestOf(bytes), size: bytes.length }
  if (bytes.length < MIN_COMPRESSED_BYTES || !isCompressible(type))
    return { ...entry, br: 0, gz: 0 }
  const [br, gz] = await Promise.all([
    toBrotli(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
    toGzip(bytes, { level: GZIP_LEVEL }),
  ])
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)])
  return { ...entry, br: br.length, gz: gz.length }
}

function listFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    )
    .filter((file) => !/\.(?:br|gz)$/.test(file))
    .sort()
}
