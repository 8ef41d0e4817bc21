import type { Refusal } from './refusal.ts'
import { findSeedFault, type Seed } from './seed-facts.ts'

export type MappedSeed =
  | { ok: true; seed: Seed; dropped: Refusal[] }
  /** `held` is what would be listed if a person found nothing wrong with its words. */
  | { ok: false; refusal: Refusal; held?: Seed }

/** The last step of every importer's mapping: only a valid listing with harmless words goes on. */
export function finishSeed(seed: Seed, dropped: Refusal[]): MappedSeed {
  const { key: name, rows } = seed
  const fault = findSeedFault(seed)
  if (fault !== null)
    return { ok: false, refusal: { reason: 'invalid_listing', name, detail: fault, rows } }
  if (seed.suspicious === undefined) return { ok: true, seed, dropped }
  const detail = `expected a description, got ${JSON.stringify(seed.suspicious)}`
  return {
    ok: false,
    refusal: { reason: 'instruction_like_text', name, detail, rows },
    held: seed,
  }
}
