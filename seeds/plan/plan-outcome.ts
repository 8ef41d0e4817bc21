import type { ExistingListing } from '../content/existing-listing.ts'
import { renderListing } from '../content/listing-text.ts'
import { hashValue } from '../content/seed-lock.ts'
import { OWNED_FIELDS, type Seed } from '../facts/seed-facts.ts'
import { planEvidence } from './plan-evidence.ts'
import { type Draft, type KeptListing, planText, type SeedOutcome } from './seeding-plan.ts'

/** What becomes of a seed whose listing is there. */
export function settle(
  draft: Draft,
  seed: Seed,
  there: ExistingListing,
  text: string,
  outcome: SeedOutcome,
): void {
  if (text !== there.text) draft.files.set(there.file, text)
  planEvidence(draft, there.file, seed)
  draft.outcomes.push({ key: seed.key, file: there.file, outcome, rows: seed.rows })
}

export function write(
  draft: Draft,
  seed: Seed,
  file: string,
  text: string,
  outcome: SeedOutcome,
): void {
  draft.listings.set(seed.key, { file, wrote: hashFields(seed) })
  planText(draft, file, text)
  planEvidence(draft, file, seed)
  draft.outcomes.push({ key: seed.key, file, outcome, rows: seed.rows })
}

export function keep(draft: Draft, seed: Seed, file: string, why: KeptListing['why']): void {
  draft.kept.push({ key: seed.key, file, why })
  draft.outcomes.push({ key: seed.key, file, outcome: 'kept', rows: seed.rows })
}

export function refuse(
  draft: Draft,
  seed: Seed,
  reason: 'opted_out' | 'slug_taken',
  detail: string,
) {
  draft.refused.push({ reason, name: seed.key, detail, rows: seed.rows })
}

export function isOwnRender({ text, fields }: ExistingListing, seed: Seed): boolean {
  const added = fields?.get('added')
  return typeof added === 'string' && text === renderListing(seed.facts, added)
}

export function hashFields(seed: Seed): Record<string, string> {
  return Object.fromEntries(
    OWNED_FIELDS.filter((field) => seed.facts[field] !== undefined).map((field) => [
      field,
      hashValue(seed.facts[field]),
    ]),
  )
}
