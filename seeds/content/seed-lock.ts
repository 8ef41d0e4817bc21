import { createHash } from 'node:crypto'
import * as v from 'valibot'

/**
 * What an importer wrote last, kept beside the content: `content/seeds/<importer>.json`. It is how
 * a later run tells its own words from a person's, and a deleted listing from one never seeded.
 */
const LockSchema = v.object({
  version: v.literal(1),
  listings: v.record(
    v.string(),
    v.object({
      file: v.pipe(v.string(), v.regex(/^listings\/[a-z0-9]+\/[a-z0-9._-]+\.md$/)),
      wrote: v.record(v.string(), v.string()),
    }),
  ),
})

export interface LockEntry {
  /** Path from the content folder. */
  file: string
  /** Hash of each field's value as the importer last wrote it. */
  wrote: Readonly<Record<string, string>>
}

export type SeedLock = ReadonlyMap<string, LockEntry>

/** @throws Error when the file is not a lock: guessing would overwrite people's edits. */
export function parseLock(text: string, file: string): SeedLock {
  const result = v.safeParse(LockSchema, parseJson(text))
  if (result.success) return new Map(Object.entries(result.output.listings))
  const place = v.getDotPath(result.issues[0]) ?? 'file'
  throw new Error(
    `${file} ${place}: expected what an earlier import wrote; restore it from version control, or delete it to treat every listing as written by people`,
  )
}

/** One line a listing, sorted: two branches that seed different listings merge without conflict. */
export function renderLock(lock: SeedLock): string {
  const lines = [...lock]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([key, { file, wrote }]) => `    ${JSON.stringify(key)}: ${JSON.stringify({ file, wrote })}`,
    )
  return `{\n  "version": 1,\n  "listings": {\n${lines.join(',\n')}\n  }\n}\n`
}

/** Hash of a field's value; the order of keys and the style of YAML don't count. */
export function hashValue(value: unknown): string {
  return createHash('sha256').update(toCanonical(value)).digest('hex').slice(0, 16)
}

function toCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${pairs.map(([key, item]) => `${JSON.stringify(key)}:${toCanonical(item)}`).join(',')}}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
