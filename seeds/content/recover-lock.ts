import type { ExistingListing } from './existing-listing.ts'
import { hashValue, type LockEntry, type SeedMemory } from './seed-lock.ts'

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
  if (there === undefined) return null
  // A new file: whatever differs from the promise was edited since.
  if (kept === undefined) return promised
  const fields = there.fields
  if (fields === null) return null
  const wrote = { ...kept.wrote }
  for (const [field, hash] of Object.entries(promised.wrote))
    if (fields.has(field) && hashValue(fields.get(field)) === hash) wrote[field] = hash
  return { ...kept, file: promised.file, wrote }
}
