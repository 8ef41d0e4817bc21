import { createHash } from 'node:crypto'
import type { ExistingListing } from '../content/existing-listing.ts'
import { hasComment, renderListing } from '../content/listing-text.ts'
import {
  evidenceFileOf,
  listingIdOf,
  renderJson,
  renderTombstone,
  tombstoneFileOf,
} from '../content/machine-files.ts'
import { isSettled, type ReviewItem, reviewFileOf, SETTLED_FILE } from '../content/review-item.ts'
import { hashValue, type LockEntry, type SeedMemory } from '../content/seed-lock.ts'
import type { Seed } from '../facts/seed-facts.ts'
import { leaveSources, toSeedFacts } from './merge-listing.ts'
import { planWithdrawnNotice } from './plan-outcome.ts'
import { isShared, planShared } from './plan-shared.ts'
import { type Draft, fileOf, planRemoval, planText } from './seeding-plan.ts'

/** What two whole runs this far apart don't show is gone (milliseconds). */
const MISSING_FOR = 24 * 3_600_000

/** Reads sellers instead of listing them: no listing can be handed over to it. */
const READER = 'discovery'

/** What the source withdrew: at its word, or because two whole runs a day apart don't have it. */
export function planWithdrawals(draft: Draft): void {
  const { seeds, refusedKeys, deleted } = draft.input
  const shown = new Set(seeds.map(({ key }) => key))
  for (const [key, entry] of [...draft.listings]) {
    if (entry.withdrawn === true || shown.has(key)) continue
    if (deleted.has(key)) withdraw(draft, key, entry)
    else if (refusedKeys.has(key)) draft.listings.set(key, withoutMissing(entry))
    else if (draft.input.isWhole && draft.input.source.promisesAll) planMissing(draft, key, entry)
  }
}

function planMissing(draft: Draft, key: string, entry: LockEntry): void {
  const { now } = draft.input
  const since = entry.missing_since
  if (since === undefined) draft.listings.set(key, { ...entry, missing_since: now })
  else if (Date.parse(now) - Date.parse(since) >= MISSING_FOR) withdraw(draft, key, entry)
}

function withoutMissing({ missing_since: _, ...entry }: LockEntry): LockEntry {
  return entry
}

function withdraw(draft: Draft, key: string, entry: LockEntry): void {
  const there = draft.input.existing.get(entry.file)
  // What people deleted themselves stays deleted.
  if (there === undefined || there.text === null || there.fields === null) return
  const { file } = entry
  if (entry.said !== undefined && isShared(draft, file, key)) {
    draft.listings.delete(key)
    draft.sharers.set(
      file,
      (draft.sharers.get(file) ?? []).filter(
        (sharer) => sharer.importer !== draft.input.source.id || sharer.key !== key,
      ),
    )
    const rest = planShared(draft, there, { key, said: null })
    if (rest !== null) draft.files.set(file, rest.text)
    draft.withdrawn.push({ key, file, how: 'other_source' })
  } else if (entry.joined === true) {
    draft.listings.delete(key)
    leave(draft, there)
    draft.withdrawn.push({ key, file, how: 'other_source' })
  } else if (handOver(draft, key, entry, there))
    draft.withdrawn.push({ key, file, how: 'other_source' })
  else if (isEdited(draft, entry, there)) {
    draft.listings.set(key, { ...entry, missing_since: entry.missing_since ?? draft.input.now })
    planWithdrawnNotice(draft, file, `${draft.input.source.id} does not list it any more.`)
    planReviewOfWithdrawn(draft, key, file)
    draft.withdrawn.push({ key, file, how: 'notice' })
  } else {
    bury(draft, there.file, there.text)
    draft.listings.set(key, { file, wrote: entry.wrote, withdrawn: true })
    draft.withdrawn.push({ key, file, how: 'tombstone' })
  }
}

/** The tombstone first: a run killed between the two leaves a listing too many, never one lost. */
function bury(draft: Draft, file: string, text: string): void {
  const { now, source, machine } = draft.input
  const evidence = machine.get(evidenceFileOf(file))
  const tombstone = renderTombstone(file, { at: now, by: source.id, text, evidence })
  planText(draft, tombstoneFileOf(file), tombstone)
  planRemoval(draft, file)
  planRemoval(draft, evidenceFileOf(file))
}

function leave(draft: Draft, { file, text, fields }: ExistingListing): void {
  if (text === null || fields === null) return
  const left = leaveSources(text, fields, new Set(draft.input.source.sourceIds))
  if (left !== text) draft.files.set(file, left)
}

/** Another source still shows it: the listing stays, and is that source's from now on. */
function handOver(draft: Draft, key: string, entry: LockEntry, there: ExistingListing): boolean {
  for (const [id, memory] of [...draft.input.memories].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const found = id === READER ? undefined : joinedEntryOf(memory, there.file, id, draft, key)
    if (found === undefined) continue
    const { sources: _, ...wrote } = entry.wrote
    const listings = new Map(id === draft.input.source.id ? draft.listings : memory.listings)
    listings.set(found, { file: there.file, wrote })
    draft.listings.delete(key)
    if (id === draft.input.source.id) draft.listings.set(found, { file: there.file, wrote })
    else {
      draft.others.set(id, { ...memory, listings })
      leave(draft, there)
    }
    return true
  }
  return false
}

function joinedEntryOf(
  memory: SeedMemory,
  file: string,
  id: string,
  draft: Draft,
  key: string,
): string | undefined {
  const listings = id === draft.input.source.id ? draft.listings : memory.listings
  return [...listings].find(
    ([other, entry]) =>
      other !== key &&
      entry.file === file &&
      entry.joined === true &&
      entry.missing_since === undefined,
  )?.[0]
}

/** True where anything in the file is not what importers wrote. */
function isEdited({ input }: Draft, entry: LockEntry, { text, fields, file }: ExistingListing) {
  if (text === null || fields === null) return true
  const read = [...(input.memories.get(READER)?.listings.values() ?? [])]
  const isReaders = read.some((each) => each.file === file && each.joined === true)
  for (const [field, hash] of Object.entries(entry.wrote))
    if (field !== 'sources' && hashValue(fields.get(field)) !== hash) return true
  if (hasComment(text, 'sources')) return true
  const facts = toSeedFacts(fields)
  const added = fields.get('added')
  if (facts === null || typeof added !== 'string') return true
  const { discovery: _, ...rest } = facts
  const isPlain = entry.wrote.discovery !== undefined || isReaders
  return renderListing(isPlain ? facts : rest, added) !== text
}

/** A row whose words a person should read first: its file waits, ready to be accepted. */
export function planReviewOfSeed(draft: Draft, seed: Seed): void {
  const { now, today, source } = draft.input
  const file = fileOf(seed)
  if (draft.listings.has(seed.key) || draft.input.existing.has(file)) return
  planReview(draft, {
    id: reviewId([source.id, seed.key, seed.suspicious ?? '']),
    at: now,
    why: 'suspicious_text',
    from: source.id,
    listing: listingIdOf(file),
    note: `Its text holds words that give orders to an agent: ${JSON.stringify(seed.suspicious)}.`,
    file: { path: file, text: renderListing(seed.facts, seed.published ?? today) },
  })
}

/** A listing that people edited and its source withdrew: theirs to decide. */
export function planReviewOfWithdrawn(draft: Draft, key: string, file: string): void {
  const { now, source } = draft.input
  planReview(draft, {
    id: reviewId([source.id, key, 'withdrawn']),
    at: now,
    why: 'withdrawn_at_source',
    from: source.id,
    listing: listingIdOf(file),
    note: `${source.id} does not list ${key} any more; people edited ${file} and ${evidenceFileOf(file)} says so.`,
  })
}

function planReview(draft: Draft, item: ReviewItem): void {
  const file = reviewFileOf(item.id)
  const { machine } = draft.input
  // The first time it was found stays; what people settled is not asked again.
  if (machine.has(file) || isSettled(machine.get(SETTLED_FILE), item.id)) return
  planText(draft, file, renderJson(item))
}

/** The same question has the same name, so that it is asked once. */
function reviewId(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12)
}
