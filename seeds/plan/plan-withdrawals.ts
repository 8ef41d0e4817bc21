import { listingIdOf } from '../../src/domain/listing/listing-id.ts'
import { type ExistingListing, hasComment, renderListing } from '../content/listing-text.ts'
import {
  evidenceFileOf,
  membersOf,
  renderTombstone,
  tombstoneFileOf,
} from '../content/machine-files.ts'
import { hashValue, type LockEntry } from '../content/seed-lock.ts'
import { READER } from './list-tellers.ts'
import { leaveSources, toSeedFacts } from './merge-listing.ts'
import type { Group } from './place-tellers.ts'
import { carryEvidence, planWithdrawnNotice } from './plan-evidence.ts'
import { planReviewOfWithdrawn } from './plan-review.ts'
import { type Draft, planRemoval, planText } from './seeding-plan.ts'

/** What two whole runs this far apart don't show is gone (milliseconds). */
const MISSING_FOR = 24 * 3_600_000

/** What the source withdrew, at its word or because two whole runs a day apart don't have it. */
export function findWithdrawn(draft: Draft): Map<string, LockEntry> {
  const { seeds, refusedKeys, deleted, existing, isWhole, source } = draft.input
  const shown = new Set(seeds.map(({ key }) => key))
  const isMissing = (key: string) => isWhole && source.promisesAll && !refusedKeys.has(key)
  const gone = new Map<string, LockEntry>()
  for (const [key, entry] of [...draft.own]) {
    if (entry.withdrawn === true || shown.has(key)) continue
    const { missing_since: _, ...there } = entry
    if (refusedKeys.has(key)) draft.own.set(key, there)
    const isGone = deleted.has(key) || (isMissing(key) && isOverdue(draft, key, entry))
    // What people deleted themselves stays deleted.
    if (isGone && existing.get(entry.file)?.fields != null) gone.set(key, entry)
  }
  return gone
}

/** Notes the first whole run that does not show it. */
function isOverdue({ input: { now }, own }: Draft, key: string, entry: LockEntry): boolean {
  const since = entry.missing_since
  if (since === undefined) own.set(key, { ...entry, missing_since: now })
  return since !== undefined && Date.parse(now) - Date.parse(since) >= MISSING_FOR
}

/** A listing that nobody tells of any more goes; one that somebody else still tells of stays. */
export function planWithdrawn(draft: Draft, gone: ReadonlyMap<string, LockEntry>): void {
  const { source, existing, machine, now } = draft.input
  for (const [key, entry] of gone) {
    const { file, wrote } = entry
    const there = existing.get(file)
    draft.own.delete(key)
    if (wrote.name === undefined || isTold(draft, file) || there === undefined) {
      if (wrote.name === undefined && there !== undefined) leave(draft, there)
      draft.withdrawn.push({ key, file, how: 'other_source' })
    } else if (isEdited(draft, there, wrote)) {
      draft.own.set(key, { ...entry, missing_since: entry.missing_since ?? now })
      planWithdrawnNotice(draft, file, `${source.id} does not list it any more.`)
      planReviewOfWithdrawn(draft, key, file)
      draft.withdrawn.push({ key, file, how: 'notice' })
    } else {
      bury(draft, there, { listing: there.text ?? '', evidence: machine.get(evidenceFileOf(file)) })
      draft.own.set(key, { file, wrote, withdrawn: true })
      draft.withdrawn.push({ key, file, how: 'tombstone' })
    }
  }
}

/** A listing whose tellers all joined another one leaves its address to it. */
export function planVacated(draft: Draft, groups: readonly Group[]): void {
  for (const { file, tellers } of groups)
    for (const { at, wrote } of tellers) {
      const there = at === null || at === file ? undefined : draft.input.existing.get(at)
      if (there === undefined || wrote.name === undefined || isTold(draft, there.file)) continue
      if (draft.files.get(there.file) === null) continue
      carryEvidence(draft, file, membersOf(draft.input.machine.get(evidenceFileOf(there.file))))
      bury(draft, there, { replaced_by: listingIdOf(file) })
    }
}

function isTold({ entries }: Draft, listing: string): boolean {
  for (const [importer, each] of entries)
    for (const { file, withdrawn } of each.values())
      if (file === listing && withdrawn !== true && importer !== READER) return true
  return false
}

/** The tombstone first: a run killed between the two leaves a listing too many, never one lost. */
function bury(
  draft: Draft,
  { file }: ExistingListing,
  left: { replaced_by: string } | { listing: string; evidence: string | undefined },
): void {
  const about = { at: draft.input.now, by: draft.input.source.id, ...left }
  planText(draft, tombstoneFileOf(file), renderTombstone(file, about))
  planRemoval(draft, file)
  planRemoval(draft, evidenceFileOf(file))
}

function leave(draft: Draft, { file, text, fields }: ExistingListing): void {
  if (text === null || fields === null) return
  const ids = new Set(draft.input.source.sourceIds)
  const left = leaveSources(text, fields, ({ source }) => ids.has(source))
  if (left !== text) draft.files.set(file, left)
}

/** True where anything in the file is not what importers wrote. */
export function isEdited(
  { input }: Draft,
  { text, fields, file }: ExistingListing,
  wrote: Readonly<Record<string, string>>,
): boolean {
  if (text === null || fields === null) return true
  const read = [...(input.memories.get(READER)?.listings.values() ?? [])]
  for (const [field, hash] of Object.entries(wrote))
    if (field !== 'sources' && hashValue(fields.get(field)) !== hash) return true
  if (hasComment(text, 'sources')) return true
  const facts = toSeedFacts(fields)
  const added = fields.get('added')
  if (facts === null || typeof added !== 'string') return true
  const { discovery: _, ...rest } = facts
  const isPlain = wrote.discovery !== undefined || read.some((each) => each.file === file)
  return renderListing(isPlain ? facts : rest, added) !== text
}
