import type { ExistingListing } from '../content/existing-listing.ts'
import { hasComment, replaceFields } from '../content/listing-text.ts'
import { hashValue, type LockEntry } from '../content/seed-lock.ts'
import { OWNED_FIELDS, type OwnedField, type SeedFacts } from '../facts/seed-facts.ts'

export interface MergedListing {
  text: string
  wrote: Readonly<Record<string, string>>
  /** Fields that differ from the source and stay, because a person wrote them. */
  kept: readonly OwnedField[]
}

/**
 * A three-way merge, field by field: what the importer wrote last is the base. A field that still
 * holds the base takes the source's new value; a field that holds anything else is a person's and
 * stays, a removed one too.
 */
export function mergeListing(
  { text, fields }: { text: string; fields: NonNullable<ExistingListing['fields']> },
  entry: LockEntry,
  facts: SeedFacts,
): MergedListing {
  const wrote: Record<string, string> = { ...entry.wrote }
  const changed: OwnedField[] = []
  const kept: OwnedField[] = []
  for (const field of OWNED_FIELDS) {
    const current = hashOf(fields, field)
    const incoming = hashValue(facts[field])
    const base = entry.wrote[field] ?? null
    if (current !== incoming && (current !== base || hasComment(text, field))) {
      kept.push(field)
      continue
    }
    if (current !== incoming) changed.push(field)
    wrote[field] = incoming
  }
  return { text: replaceFields(text, changed, facts), wrote, kept }
}

function hashOf(fields: ReadonlyMap<string, unknown>, field: string): string | null {
  return fields.has(field) ? hashValue(fields.get(field)) : null
}
