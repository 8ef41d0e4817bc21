import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { ReleaseFileSchema } from '../../domain/derived/release-file.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'
import { createReader, isSound, readManifest } from '../files/carry-over.ts'

/**
 * How closely a release is looked at: every byte, or only how long each file is, which takes a
 * start microseconds a file and finds what a full disk, a power cut or somebody's `rm` left.
 */
export type Look = 'bytes' | 'lengths'

/** Whether a release is there in full, as it was published. */
export function isWhole(dir: string, name: string, look: Look): boolean {
  const holds = look === 'bytes' ? createReader() : hasLength
  try {
    const text = readFileSync(join(dir, 'data/release.json'), 'utf8')
    const release = v.parse(ReleaseFileSchema, parseJson(text))
    const described = Object.entries(release.files)
    return (
      release.name === name &&
      described.every(([file, { size, digest }]) => holds(join(dir, file), size, digest)) &&
      readManifest(dir, release).every((file) => isSound(join(dir, 'public'), file, holds))
    )
  } catch {
    return false
  }
}

function hasLength(path: string, size: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === size
}
