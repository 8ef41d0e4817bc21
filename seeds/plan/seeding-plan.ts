import type { HandsOff } from '../content/hands-off.ts'
import type { ExistingListing } from '../content/listing-text.ts'
import type { LockEntry, SeedMemory } from '../content/seed-lock.ts'
import type { Refusal } from '../facts/refusal.ts'
import type { OwnedField, Seed } from '../facts/seed-facts.ts'

export interface SeedingInput {
  source: { id: string; promisesAll: boolean; sourceIds: readonly string[] }
  /** Valid, sorted by key, each key once. */
  seeds: readonly Seed[]
  /** Refused for their words alone. */
  held: readonly Seed[]
  /** Keys of rows that were refused: still at the source, so not missing. */
  refusedKeys: ReadonlySet<string>
  /** Keys the source says are gone. */
  deleted: ReadonlySet<string>
  existing: ReadonlyMap<string, ExistingListing>
  /** Of every importer, in the order of precedence; this one's as recovered. */
  memories: ReadonlyMap<string, SeedMemory>
  handsOff: HandsOff
  /** Evidence, tombstones and review items, as text by path. */
  machine: ReadonlyMap<string, string>
  /** ISO 8601. */
  now: string
  /** Day to write where the source doesn't tell one, `2026-11-20`. */
  today: string
  /** False for a run over a part of the source: it can't know what is missing. */
  isWhole: boolean
  /** True where a run adds to listings that are there and makes none. */
  isListedOnly: boolean
}

/** Where a listing is and stays as people want it. */
export interface KeptListing {
  key: string
  file: string
  why: 'removed_by_people' | 'left_as_is'
}

export type SeedOutcome = 'added' | 'changed' | 'unchanged' | 'returned' | 'merged' | 'kept'

export interface SeedingPlan {
  /** Listings, sorted by file. */
  writes: { file: string; text: string; isNew: boolean }[]
  /** Evidence, tombstones and review items, sorted by file. */
  machineWrites: { file: string; text: string }[]
  /** Sorted. */
  removes: string[]
  outcomes: { key: string; file: string; outcome: SeedOutcome; rows: number }[]
  kept: KeptListing[]
  editedFields: { key: string; file: string; fields: readonly OwnedField[] }[]
  refused: Refusal[]
  withdrawn: { key: string; file: string; how: 'tombstone' | 'notice' | 'other_source' }[]
  /** What this importer will remember. */
  memory: SeedMemory
  /** Other importers' memories that change with it, by id. */
  others: Map<string, SeedMemory>
}

/** A plan while it is made. */
export interface Draft
  extends Pick<SeedingPlan, 'outcomes' | 'kept' | 'editedFields' | 'refused' | 'withdrawn'> {
  input: SeedingInput
  /** Planned text by path; null takes a file away. */
  files: Map<string, string | null>
  /** What each importer will remember, by its id; this one's among them. */
  entries: Map<string, Map<string, LockEntry>>
  own: Map<string, LockEntry>
}

export function fileOf({ prefix, slug }: Pick<Seed, 'prefix' | 'slug'>): string {
  return `listings/${prefix}/${slug}.md`
}

/** Text as it will be when the plan is done. */
export function plannedText({ files, input }: Draft, file: string): string | undefined {
  const planned = files.get(file)
  return planned === undefined ? input.machine.get(file) : (planned ?? undefined)
}

/** Plans a file's text, unless it already has it. */
export function planText(draft: Draft, file: string, text: string): void {
  if (plannedText(draft, file) !== text) draft.files.set(file, text)
}

export function planRemoval(draft: Draft, file: string): void {
  if (plannedText(draft, file) !== undefined || draft.input.existing.has(file))
    draft.files.set(file, null)
}

export function keep(draft: Draft, seed: Seed, file: string, why: KeptListing['why']): void {
  draft.kept.push({ key: seed.key, file, why })
  settle(draft, seed, file, 'kept')
}

/** What becomes of a seed: each row ends in exactly one outcome, or is refused. */
export function settle(draft: Draft, { key, rows }: Seed, file: string, outcome: SeedOutcome) {
  draft.outcomes.push({ key, file, outcome, rows })
}

export function refuse(
  draft: Draft,
  { key, rows }: Seed,
  reason: 'opted_out' | 'slug_taken' | 'not_listed',
  detail: string,
) {
  draft.refused.push({ reason, name: key, detail, rows })
}
