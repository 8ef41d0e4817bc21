import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { ReleaseFileSchema } from '../../domain/derived/release-file.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'
import { StaticFileSchema } from '../../domain/wire/static-file.ts'

/**
 * Whether a release is there in full: every file as long as it was published. A disk that ran
 * full, a power cut or somebody's `rm` leave less.
 */
export function isWhole(dir: string, name: string): boolean {
  const release = v.safeParse(ReleaseFileSchema, parseJson(readOr(join(dir, 'data/release.json'))))
  if (!release.success || release.output.name !== name) return false
  return (
    Object.entries(release.output.files).every(([file, { size }]) =>
      hasSize(join(dir, file), size),
    ) &&
    readOr(join(dir, 'data/files.ndjson'))
      .split('\n')
      .every((row) => row === '' || isFileWhole(join(dir, 'public'), row))
  )
}

const isStaticFile = v.safeParser(StaticFileSchema)

function isFileWhole(root: string, row: string): boolean {
  const { success, output } = isStaticFile(parseJson(row))
  if (!success) return false
  const path = join(root, output.file)
  return (
    hasSize(path, output.size) &&
    (output.br === 0 || hasSize(`${path}.br`, output.br)) &&
    (output.gz === 0 || hasSize(`${path}.gz`, output.gz))
  )
}

function hasSize(path: string, size: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === size
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
