import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import {
  type ReleaseFile,
  ReleaseFileSchema,
  StoredSchema,
} from '../domain/derived/release-file.ts'
import { parseJson } from '../domain/wire/parse-json.ts'
import { readObjectSync } from './objects.ts'

/**
 * A release is a list of paths over the objects of the store: `public/…` is what a CDN may serve,
 * `data/…` what the functions load, `server/…` their page code, `functions/…` and `deploy/…` what
 * other hosts take. `OUT_DIR/releases/<name>` names the object of the list.
 */
export const ListedFileSchema = v.strictObject({
  path: v.pipe(
    v.string(),
    v.regex(/^(?:changes|data|deploy|functions|public|server)\//),
    v.check(
      (path) => !/(?:^|\/)\.{0,2}(?:\/|$)|[\0\\]/.test(path),
      'expected a path below a release',
    ),
  ),
  ...StoredSchema.entries,
})
export type ListedFile = v.InferOutput<typeof ListedFileSchema>

export function renderList(files: Iterable<ListedFile>): Buffer {
  const lines = [...files].map(({ path, size, digest }) => JSON.stringify({ path, size, digest }))
  return Buffer.from(lines.map((line) => `${line}\n`).join(''))
}

/** The typed `any` of `JSON.parse`: the bytes were verified, and written from this very type. */
export function parseList(bytes: Buffer): ListedFile[] {
  return JSON.parse(`[${bytes.toString().trimEnd().replaceAll('\n', ',')}]`)
}

/** The content of `releases/<name>`. @throws when it is missing, damaged or of another version */
export function readReleaseFile(outDir: string, name: string): ReleaseFile {
  return v.parse(ReleaseFileSchema, parseJson(readFileSync(releasePath(outDir, name), 'utf8')))
}

/** @throws as `readReleaseFile`, and when the list is damaged */
export function readReleaseList(outDir: string, name: string): ListedFile[] {
  return parseList(readObjectSync(outDir, readReleaseFile(outDir, name).list))
}

/**
 * The rows of the list as `renderList` writes them, a text each; none where the release can't be read.
 * Of a hundred thousand rows most builds look into a few: the others are compared as they are.
 */
export function readRowsOr(outDir: string, name: string | null): string[] {
  try {
    if (name === null) return []
    const bytes = readObjectSync(outDir, readReleaseFile(outDir, name).list)
    return bytes.toString().trimEnd().split('\n')
  } catch {
    return []
  }
}

export function parseListRows(rows: readonly string[]): ListedFile[] {
  return JSON.parse(`[${rows.join(',')}]`)
}

/** Whether the path of a row begins so. */
export function rowStarts(row: string, path: string): boolean {
  return row.startsWith(path, PATH_STARTS)
}

const PATH_STARTS = '{"path":"'.length

/** The digest that a row ends with. */
export function digestIn(row: string): string {
  return row.slice(-64 - '"}'.length, -'"}'.length)
}

/** Files of a release by their paths; null where the release or a file is missing or damaged. */
export function readReleased(
  outDir: string,
  name: string,
  paths: readonly string[],
): (Buffer | null)[] {
  const rows = readRowsOr(outDir, name)
  return paths.map((path) => {
    const [found] = parseListRows(rows.filter((row) => rowStarts(row, `${path}"`)))
    try {
      return found === undefined ? null : readObjectSync(outDir, found)
    } catch {
      return null
    }
  })
}

export function releasePath(outDir: string, name: string): string {
  return `${outDir}/releases/${name}`
}
