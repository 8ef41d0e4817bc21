import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import * as v from 'valibot'
import { ReleaseFileSchema } from '../../domain/derived/release-file.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'
import { type StaticFile, StaticFileSchema } from '../../domain/wire/static-file.ts'
import { digestOf, readOr } from '../files/release-writer.ts'

const DECODERS = { br: brotliDecompressSync, gz: gunzipSync } as const

/**
 * How closely a release is looked at: every byte, or only how long each file is, which takes a
 * start microseconds a file and finds what a full disk, a power cut or somebody's `rm` left.
 */
export type Look = 'bytes' | 'lengths'

/** Whether a release is there in full, as it was published. */
export function isWhole(dir: string, name: string, look: Look): boolean {
  const release = v.safeParse(
    ReleaseFileSchema,
    parseJson(readOr(join(dir, 'data/release.json')) ?? ''),
  )
  if (!release.success || release.output.name !== name) return false
  return (
    Object.entries(release.output.files).every(([file, published]) =>
      isPublished(join(dir, file), published, look),
    ) &&
    (readOr(join(dir, 'data/files.ndjson')) ?? '')
      .split('\n')
      .every((row) => row === '' || isFileWhole(join(dir, 'public'), row, look))
  )
}

const isStaticFile = v.safeParser(StaticFileSchema)

function isFileWhole(root: string, row: string, look: Look): boolean {
  const { success, output } = isStaticFile(parseJson(row))
  if (!success) return false
  const path = join(root, output.file)
  return (
    isPublished(path, output, look) &&
    (['br', 'gz'] as const).every(
      (coding) => output[coding] === 0 || isCopyWhole(path, coding, output, look),
    )
  )
}

function isPublished(
  path: string,
  { size, digest }: Pick<StaticFile, 'size' | 'digest'>,
  look: Look,
): boolean {
  if (!hasSize(path, size)) return false
  return look === 'lengths' || digestOf(readFileSync(path), digest.length) === digest
}

/** The file itself has been looked at: its copies hold the same. */
function isCopyWhole(path: string, coding: 'br' | 'gz', file: StaticFile, look: Look): boolean {
  if (!hasSize(`${path}.${coding}`, file[coding])) return false
  return look === 'lengths' || isCopyOf(readFileSync(path), path, coding)
}

function hasSize(path: string, size: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === size
}

/** Whether `<path>.br` or `<path>.gz` holds these bytes: its length alone would not tell. */
function isCopyOf(bytes: Buffer, path: string, coding: keyof typeof DECODERS): boolean {
  try {
    const copy = readFileSync(`${path}.${coding}`)
    const decoded = DECODERS[coding](copy, { maxOutputLength: Math.max(1, bytes.length) })
    return decoded.equals(bytes)
  } catch {
    return false
  }
}
