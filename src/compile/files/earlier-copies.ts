import { linkSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { ReleaseFileSchema } from '../../domain/derived/release-file.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'
import { type StaticFile, StaticFileSchema } from '../../domain/wire/static-file.ts'
import { isCopyOf } from './compressed-copy.ts'

/** Compressed copies in the release before: where a file is the same, so are they. */
export interface EarlierCopies {
  /** Its `public` folder. */
  dir: string
  files: ReadonlyMap<string, StaticFile>
}

const NO_COPIES: EarlierCopies = { dir: '', files: new Map() }

/**
 * @param releaseDir null where there is no release yet
 * @param compression what must have made them, see `COMPRESSION`
 */
export function readEarlierCopies(releaseDir: string | null, compression: string): EarlierCopies {
  if (releaseDir === null) return NO_COPIES
  try {
    const read = (file: string) => readFileSync(join(releaseDir, 'data', file), 'utf8')
    const release = v.parse(ReleaseFileSchema, parseJson(read('release.json')))
    if (release.compression !== compression) return NO_COPIES
    const parse = v.parser(StaticFileSchema)
    const rows = read('files.ndjson').split('\n').filter(Boolean)
    const files = rows.map((row) => parse(JSON.parse(row)))
    return { dir: join(releaseDir, 'public'), files: new Map(files.map((row) => [row.file, row])) }
  } catch {
    // Damaged, or of another version of Waypost: everything is made anew.
    return NO_COPIES
  }
}

/**
 * Links the copies of a file that did not change. Null where there are none that could be linked:
 * what a disk did to them must not go on into the next release.
 */
export function linkCopies(
  { dir, files }: EarlierCopies,
  { file, digest, size }: Pick<StaticFile, 'file' | 'digest' | 'size'>,
  path: string,
  bytes: Buffer,
): { br: number; gz: number } | null {
  const earlier = files.get(file)
  if (earlier?.digest !== digest || earlier.size !== size || earlier.br === 0) return null
  const from = join(dir, file)
  if (!hasSize(`${from}.br`, earlier.br) || !hasSize(`${from}.gz`, earlier.gz)) return null
  if (!isCopyOf(bytes, from, 'br') || !isCopyOf(bytes, from, 'gz')) return null
  try {
    linkSync(`${from}.br`, `${path}.br`)
    linkSync(`${from}.gz`, `${path}.gz`)
    return { br: earlier.br, gz: earlier.gz }
  } catch {
    // A disk without hard links, or with too many of them. What was linked must not be written to.
    for (const copy of [`${path}.br`, `${path}.gz`]) rmSync(copy, { force: true })
    return null
  }
}

function hasSize(path: string, size: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === size
}
