import { hash } from 'node:crypto'
import * as v from 'valibot'
import { toCanonicalJson } from '../../src/domain/wire/canonical-json.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import type { ExistingListing } from './listing-text.ts'
import { parseAs } from './machine-files.ts'

const EntrySchema = v.object({
  /** Path from the content folder. */
  file: v.pipe(v.string(), v.regex(/^listings\/[a-z0-9]+\/[a-z0-9._-]+\.md$/)),
  /** Hash of each field's value as the importer last wrote it. */
  wrote: v.record(v.string(), v.string()),
  /** The file it would have by itself, where it tells of one that has another name. */
  own: v.optional(v.string()),
  /** What the source said of a listing that others tell of too, by the fields of front matter. */
  said: v.optional(v.record(v.string(), v.unknown())),
  /** Compared with the listing and never written: payees and tools; of a person's listing more. */
  told: v.optional(v.record(v.string(), v.unknown())),
  /** When a whole run first didn't show it any more, ISO 8601. */
  missing_since: v.optional(v.string()),
  /** Its file went to the tombstones, and comes back when the source shows it again. */
  withdrawn: v.optional(v.literal(true)),
})
export type LockEntry = Readonly<v.InferOutput<typeof EntrySchema>>

/**
 * What an importer wrote last, kept beside the content: `content/seeds/<importer>.json`. It is how
 * a later run tells its own words from a person's, and a deleted listing from one never seeded.
 */
const LockSchema = v.object({
  // 1 had no more than files and hashes; it is read as it is.
  version: v.picklist([1, 2]),
  taken: v.optional(v.number()),
  listings: v.record(v.string(), EntrySchema),
})

export type SeedLock = ReadonlyMap<string, LockEntry>

export interface SeedMemory {
  /** Listings that the last whole run took from the source; null before the first. */
  taken: number | null
  listings: SeedLock
}

export const NO_MEMORY: SeedMemory = { taken: null, listings: new Map() }

/** @throws Error when the file is not a lock: guessing would overwrite people's edits. */
export function parseLock(text: string, file: string): SeedMemory {
  const advice =
    'expected what an earlier import wrote; restore it from version control, or delete it to treat every listing as written by people'
  const { taken, listings } = parseAs(LockSchema, parseJson(text), file, advice)
  return { taken: taken ?? null, listings: new Map(Object.entries(listings)) }
}

/** One line a listing, sorted: two branches that seed different listings merge without conflict. */
export function renderLock({ taken, listings }: SeedMemory): string {
  const lines = [...listings]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { file, wrote, own, said, told, missing_since, withdrawn }]) => {
      const entry = { file, wrote, own, said, told, missing_since, withdrawn }
      return `    ${JSON.stringify(key)}: ${JSON.stringify(entry)}`
    })
  const count = taken === null ? '' : `  "taken": ${taken},\n`
  return `{\n  "version": 2,\n${count}  "listings": {\n${lines.join(',\n')}\n  }\n}\n`
}

/** Hash of a field's value; the order of keys and the style of YAML don't count. */
export function hashValue(value: unknown): string {
  return hash('sha256', toCanonicalJson(value), 'hex').slice(0, 16)
}

/**
 * What an importer remembers after a run that was killed. Before its first file a run writes down
 * the memory it is going to have; here that promise is held against the files. Field by field, since
 * a person may have edited between the two runs: a field that holds what was promised was written,
 * any other still has its former base. So what an importer wrote is its own from the first byte.
 *
 * @param promised null where the last run ended well
 */
export function recoverMemory(
  kept: SeedMemory,
  promised: SeedMemory | null,
  existing: ReadonlyMap<string, ExistingListing>,
): SeedMemory {
  if (promised === null) return kept
  const listings = new Map(kept.listings)
  for (const [key, entry] of promised.listings) {
    const recovered = recoverEntry(entry, kept.listings.get(key), existing.get(entry.file))
    if (recovered !== null) listings.set(key, recovered)
  }
  return { taken: kept.taken, listings }
}

function recoverEntry(
  promised: LockEntry,
  kept: LockEntry | undefined,
  there: ExistingListing | undefined,
): LockEntry | null {
  if (promised.withdrawn === true) return there === undefined ? promised : null
  // A new file: whatever differs from the promise was edited since.
  if (there !== undefined && kept === undefined) return promised
  const fields = there?.fields ?? null
  if (kept === undefined || fields === null) return null
  const wrote = { ...kept.wrote }
  for (const [field, hash] of Object.entries(promised.wrote))
    if (fields.has(field) && hashValue(fields.get(field)) === hash) wrote[field] = hash
  return { ...kept, file: promised.file, wrote }
}
