import { isJsonObject } from '../../src/domain/wire/parse-json.ts'
import { findHandsOff } from '../content/hands-off.ts'
import {
  hasComment,
  parseListingFields,
  renderListing,
  replaceField,
} from '../content/listing-text.ts'
import { membersOf, tombstoneFileOf } from '../content/machine-files.ts'
import { hashValue, type LockEntry, NO_MEMORY } from '../content/seed-lock.ts'
import type { Seed } from '../facts/seed-facts.ts'
import { findMoved, findOwner, indexOwners } from './listing-owners.ts'
import { joinSources, mergeListing } from './merge-listing.ts'
import {
  hashFields,
  isOwnRender,
  keep,
  refuse,
  restoreEvidence,
  settle,
  write,
} from './plan-outcome.ts'
import { indexSharers, isShared, planShared } from './plan-shared.ts'
import { planReviewOfSeed, planWithdrawals } from './plan-withdrawals.ts'
import {
  type Draft,
  fileOf,
  planRemoval,
  type SeedingInput,
  type SeedingPlan,
} from './seeding-plan.ts'

/** What seeding would do; pure, so that a dry run and a run can't differ. */
export function planSeeding(input: SeedingInput): SeedingPlan {
  const memory = input.memories.get(input.source.id) ?? NO_MEMORY
  const draft: Draft = {
    input,
    owners: indexOwners(input.existing, input.memories),
    sharers: indexSharers(input.memories),
    files: new Map(),
    listings: new Map(memory.listings),
    others: new Map(),
    outcomes: [],
    kept: [],
    editedFields: [],
    refused: [],
    withdrawn: [],
  }
  for (const seed of input.seeds) planSeed(draft, seed)
  for (const seed of input.held) planReviewOfSeed(draft, seed)
  planWithdrawals(draft)
  return toPlan(draft, input.isWhole ? input.seeds.length : memory.taken)
}

function toPlan(draft: Draft, taken: number | null): SeedingPlan {
  const { existing } = draft.input
  const texts = [...draft.files].sort(([a], [b]) => (a < b ? -1 : 1))
  const written = texts.flatMap(([file, text]) => (text === null ? [] : [{ file, text }]))
  const isListing = ({ file }: { file: string }) => file.startsWith('listings/')
  const { outcomes, kept, editedFields, refused, withdrawn, others, listings } = draft
  return {
    writes: written
      .filter(isListing)
      .map(({ file, text }) => ({ file, text, isNew: !existing.has(file) })),
    machineWrites: written.filter((each) => !isListing(each)),
    removes: texts.flatMap(([file, text]) => (text === null ? [file] : [])),
    outcomes,
    kept,
    editedFields,
    refused,
    withdrawn,
    memory: { taken, listings },
    others,
  }
}

function planSeed(draft: Draft, seed: Seed): void {
  const { handsOff, existing } = draft.input
  const entry = draft.listings.get(seed.key)
  if (seed.into !== undefined) {
    planInto(draft, seed, seed.into)
    return
  }
  const rule = findHandsOff(handsOff, seed)
  if (rule?.rule === 'never_list') {
    const listed = entry !== undefined && existing.has(entry.file)
    const still = listed ? `; ${entry.file} is still there and should be removed` : ''
    refuse(draft, seed, 'opted_out', `${rule.reason}${still}`)
  } else if (rule !== null) keep(draft, seed, entry?.file ?? fileOf(seed), 'left_as_is')
  else if (entry === undefined) planNew(draft, seed)
  else if (entry.withdrawn === true) planReturn(draft, seed, entry)
  else if (entry.joined === true) planJoined(draft, seed, entry.file)
  else planKnown(draft, seed, entry)
}

function planNew(draft: Draft, seed: Seed): void {
  const { existing, today, source } = draft.input
  const file = fileOf(seed)
  const there = existing.get(file)
  if (there !== undefined && isOwnRender(there, seed)) {
    // Memory was lost, but the file is the importer's to the byte.
    draft.listings.set(seed.key, { file, wrote: hashFields(seed) })
    settle(draft, seed, there, there.text ?? '', 'unchanged')
    return
  }
  const owner = findOwner(seed, draft.owners)
  if (owner !== null) {
    planJoined(draft, seed, owner)
    return
  }
  if (there !== undefined || draft.files.has(file)) {
    refuse(draft, seed, 'slug_taken', `expected no ${file}, or one that lists the same service`)
    return
  }
  const tombstone = membersOf(draft.input.machine.get(tombstoneFileOf(file)))
  if (tombstone.id !== undefined && tombstone.by !== source.id) {
    keep(draft, seed, file, 'removed_by_people')
    return
  }
  if (tombstone.id !== undefined) planReturn(draft, seed, { file, wrote: {} })
  else write(draft, seed, file, renderListing(seed.facts, seed.published ?? today), 'added')
}

/** The tombstone keeps the file as it was: what comes back is that file, brought up to date. */
function planReturn(draft: Draft, seed: Seed, entry: LockEntry): void {
  const { file } = entry
  const tombstone = membersOf(draft.input.machine.get(tombstoneFileOf(file)))
  if (tombstone.id === undefined || tombstone.by !== draft.input.source.id) {
    keep(draft, seed, file, 'removed_by_people')
    return
  }
  const text = typeof tombstone.listing === 'string' ? tombstone.listing : ''
  const fields = parseListingFields(text)
  const merged = fields === null ? null : mergeListing({ text, fields }, entry.wrote, seed.facts)
  const fresh = renderListing(seed.facts, seed.published ?? draft.input.today)
  planRemoval(draft, tombstoneFileOf(file))
  restoreEvidence(draft, file, tombstone.evidence)
  write(draft, seed, file, merged?.text ?? fresh, 'returned')
}

function planKnown(draft: Draft, seed: Seed, entry: LockEntry): void {
  const { existing, machine } = draft.input
  const file = existing.has(entry.file) ? entry.file : findMoved(seed, draft.owners)
  const there = file === null ? undefined : existing.get(file)
  if (there === undefined) {
    keep(draft, seed, entry.file, 'removed_by_people')
    return
  }
  if (there.text === null || there.fields === null) {
    keep(draft, seed, there.file, 'left_as_is')
    return
  }
  const merged = isShared(draft, there.file, seed.key)
    ? planShared(draft, there, { key: seed.key, said: seed.facts })
    : mergeAlone(draft, { text: there.text, fields: there.fields, file: there.file }, seed)
  if (merged === null) return
  if (merged.kept.length > 0)
    draft.editedFields.push({ key: seed.key, file: there.file, fields: merged.kept })
  // A run that was killed between a tombstone and its listing left both.
  if (machine.has(tombstoneFileOf(there.file))) planRemoval(draft, tombstoneFileOf(there.file))
  settle(draft, seed, there, merged.text, merged.text === there.text ? 'unchanged' : 'changed')
}

/** A person's listing gets a row under `sources`; what sources alone say adds up. */
function planJoined(draft: Draft, seed: Seed, file: string): void {
  const there = draft.input.existing.get(file)
  if (there === undefined) {
    keep(draft, seed, file, 'removed_by_people')
    return
  }
  if (there.text === null || there.fields === null) {
    keep(draft, seed, file, 'left_as_is')
    return
  }
  const known = draft.listings.get(seed.key)
  const shared = draft.sharers.has(file)
    ? planShared(draft, there, { key: seed.key, said: seed.facts })
    : null
  if (shared !== null) {
    settle(draft, seed, there, withEarlierDay(shared.text, seed.published), 'merged')
    return
  }
  const planned = draft.files.get(file) ?? there.text
  const fields = planned === there.text ? there.fields : parseListingFields(planned)
  // A row that a person took out again stays out.
  const text =
    known === undefined && fields !== null
      ? joinSources({ text: planned, fields }, seed.facts)
      : planned
  draft.listings.set(seed.key, {
    file,
    wrote: { sources: hashValue(seed.facts.sources) },
    joined: true,
  })
  settle(draft, seed, there, text, 'merged')
}

function mergeAlone(
  draft: Draft,
  { file, ...there }: { file: string; text: string; fields: ReadonlyMap<string, unknown> },
  seed: Seed,
) {
  const merged = mergeListing(there, draft.listings.get(seed.key)?.wrote ?? {}, seed.facts)
  draft.listings.set(seed.key, { file, wrote: merged.wrote })
  return merged
}

/** Whichever source was read first: a listing is as old as the oldest of them says. */
function withEarlierDay(text: string, published: string | null): string {
  return text.replace(/^added: (\d{4}-\d\d-\d\d)$/m, (line, day: string) =>
    published !== null && published < day ? `added: ${published}` : line,
  )
}

/** Adds what a seller publishes about itself to its listing; what people wrote stands. */
function planInto(draft: Draft, seed: Seed, file: string): void {
  const there = draft.input.existing.get(file)
  if (there === undefined || there.text === null || there.fields === null) {
    keep(draft, seed, file, 'left_as_is')
    return
  }
  const listed: unknown = there.fields.get('discovery')
  const known = draft.listings.get(seed.key)?.wrote ?? {}
  const kept = isJsonObject(listed) ? listed : {}
  // A file that a person took out again stays out.
  const added = Object.entries(seed.facts.discovery ?? {}).filter(
    ([name]) => !(name in kept) && known[name] === undefined,
  )
  const isLocked = hasComment(there.text, 'discovery')
  const text =
    added.length === 0 || isLocked
      ? there.text
      : replaceField(there.text, 'discovery', { ...kept, ...Object.fromEntries(added) })
  const wrote = Object.fromEntries(added.map(([name, url]) => [name, hashValue(url)]))
  draft.listings.set(seed.key, { file, wrote: { ...known, ...wrote }, joined: true })
  settle(draft, seed, there, text, 'merged')
}
