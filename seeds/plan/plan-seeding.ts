import type { ExistingListing } from '../content/existing-listing.ts'
import { findHandsOff, type HandsOff } from '../content/hands-off.ts'
import { renderListing } from '../content/listing-text.ts'
import { hashValue, type LockEntry, type SeedLock } from '../content/seed-lock.ts'
import type { Refusal } from '../facts/refusal.ts'
import { endpointsOf, OWNED_FIELDS, type OwnedField, type Seed } from '../facts/seed-facts.ts'
import { mergeListing } from './merge-listing.ts'

export interface SeedingInput {
  /** Valid, sorted by key, each key once. */
  seeds: readonly Seed[]
  existing: ReadonlyMap<string, ExistingListing>
  lock: SeedLock
  handsOff: HandsOff
  /** Day to write where the source doesn't tell one, `2026-11-20`. */
  today: string
}

/** Where a listing is and stays as people want it. */
export interface KeptListing {
  key: string
  file: string
  why: 'already_listed' | 'removed_by_people' | 'left_as_is'
}

export interface SeedingPlan {
  /** Sorted by file. */
  writes: { file: string; text: string; isNew: boolean }[]
  unchanged: number
  kept: KeptListing[]
  editedFields: { key: string; file: string; fields: readonly OwnedField[] }[]
  refused: Refusal[]
  lock: SeedLock
}

/** What seeding would do; pure, so that a dry run and a run can't differ. */
export function planSeeding(input: SeedingInput): SeedingPlan {
  const plan: Draft = {
    writes: [],
    unchanged: 0,
    kept: [],
    editedFields: [],
    refused: [],
    lock: new Map(input.lock),
  }
  const owners = indexOwners(input)
  for (const seed of input.seeds) {
    const entry = input.lock.get(seed.key)
    const rule = findHandsOff(input.handsOff, seed)
    if (rule?.rule === 'never_list') {
      const listed = entry !== undefined && input.existing.has(entry.file)
      const still = listed ? `; ${entry.file} is still there and should be removed` : ''
      plan.refused.push({ reason: 'opted_out', name: seed.key, detail: `${rule.reason}${still}` })
    } else if (rule !== null)
      plan.kept.push({ key: seed.key, file: entry?.file ?? fileOf(seed), why: 'left_as_is' })
    else if (entry === undefined) planNew(plan, seed, input, owners)
    else planKnown(plan, seed, entry, input, owners)
  }
  plan.writes.sort((a, b) => (a.file < b.file ? -1 : 1))
  return plan
}

type Draft = Omit<SeedingPlan, 'lock'> & { lock: Map<string, LockEntry> }

interface Owner {
  file: string
  isHandMade: boolean
}

function indexOwners({ existing, lock }: SeedingInput): Map<string, Owner> {
  const seeded = new Set([...lock.values()].map(({ file }) => file))
  const owners = new Map<string, Owner>()
  for (const { file, endpoints, refs } of existing.values())
    for (const mark of [...endpoints, ...refs.map((ref) => `ref ${ref}`)]) {
      const isHandMade = !seeded.has(file)
      if (isHandMade || !owners.has(mark)) owners.set(mark, { file, isHandMade })
    }
  return owners
}

function planNew(
  plan: Draft,
  seed: Seed,
  { existing, today }: SeedingInput,
  owners: ReadonlyMap<string, Owner>,
): void {
  const file = fileOf(seed)
  const there = existing.get(file)
  if (there !== undefined && isOwnRender(there, seed)) {
    // A run that was killed before it wrote its lock: the file is the importer's to the byte.
    plan.lock.set(seed.key, { file, wrote: hashFields(seed) })
    plan.unchanged++
    return
  }
  const owner = findOwner(seed, owners)
  if (owner !== null) plan.kept.push({ key: seed.key, file: owner, why: 'already_listed' })
  else if (there !== undefined)
    plan.refused.push({
      reason: 'slug_taken',
      name: seed.key,
      detail: `expected no ${file}, or one that lists the same server`,
    })
  else {
    plan.writes.push({
      file,
      text: renderListing(seed.facts, seed.published ?? today),
      isNew: true,
    })
    plan.lock.set(seed.key, { file, wrote: hashFields(seed) })
  }
}

function planKnown(
  plan: Draft,
  seed: Seed,
  entry: LockEntry,
  { existing }: SeedingInput,
  owners: ReadonlyMap<string, Owner>,
): void {
  const file = existing.has(entry.file) ? entry.file : findMoved(seed, owners)
  const there = file === null ? undefined : existing.get(file)
  if (there === undefined) {
    plan.kept.push({ key: seed.key, file: entry.file, why: 'removed_by_people' })
    return
  }
  if (there.text === null || there.fields === null) {
    plan.kept.push({ key: seed.key, file: there.file, why: 'left_as_is' })
    return
  }
  const merged = mergeListing({ text: there.text, fields: there.fields }, entry, seed.facts)
  plan.lock.set(seed.key, { file: there.file, wrote: merged.wrote })
  if (merged.kept.length > 0)
    plan.editedFields.push({ key: seed.key, file: there.file, fields: merged.kept })
  if (merged.text === there.text) plan.unchanged++
  else plan.writes.push({ file: there.file, text: merged.text, isNew: false })
}

/**
 * The file that lists a server already. One shared endpoint is enough where a person wrote the
 * file; an imported listing only stands in for a server that offers nothing else.
 */
function findOwner(seed: Seed, owners: ReadonlyMap<string, Owner>): string | null {
  const endpoints = endpointsOf(seed.facts).map((endpoint) => owners.get(endpoint))
  const refs = seed.facts.sources.map(({ ref }) => owners.get(`ref ${ref}`))
  const byHand = [...endpoints, ...refs].find((owner) => owner?.isHandMade === true)
  if (byHand !== undefined && (endpoints.includes(byHand) || isEntryRef(seed))) return byHand.file
  const [first] = endpoints
  return first !== undefined && endpoints.every((owner) => owner !== undefined) ? first.file : null
}

/** A list's README is the source of a hundred servers; a registry entry is the source of one. */
function isEntryRef({ key, facts }: Seed): boolean {
  return facts.sources.some(({ ref }) => ref.includes(encodeURIComponent(key)))
}

/** A person who renames a listing keeps it: the file nobody seeded that offers the same. */
function findMoved(seed: Seed, owners: ReadonlyMap<string, Owner>): string | null {
  const owner = endpointsOf(seed.facts)
    .map((endpoint) => owners.get(endpoint))
    .find((found) => found?.isHandMade === true)
  return owner?.file ?? null
}

function isOwnRender({ text, fields }: ExistingListing, seed: Seed): boolean {
  const added = fields?.get('added')
  return typeof added === 'string' && text === renderListing(seed.facts, added)
}

function hashFields(seed: Seed): Record<string, string> {
  return Object.fromEntries(OWNED_FIELDS.map((field) => [field, hashValue(seed.facts[field])]))
}

function fileOf({ prefix, slug }: Seed): string {
  return `listings/${prefix}/${slug}.md`
}
