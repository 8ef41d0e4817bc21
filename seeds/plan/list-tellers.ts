import { findHandsOff } from '../content/hands-off.ts'
import { type ExistingListing, renderListing } from '../content/listing-text.ts'
import { listingFileOf, membersOf, tombstoneFileOf } from '../content/machine-files.ts'
import type { LockEntry } from '../content/seed-lock.ts'
import { identify } from '../facts/listing-marks.ts'
import type { Seed } from '../facts/seed-facts.ts'
import { toSaidFacts } from './merge-listing.ts'
import type { Teller } from './place-tellers.ts'
import { type Draft, fileOf, keep, refuse } from './seeding-plan.ts'

/** Reads sellers instead of listing them: it tells of no listing. */
export const READER = 'discovery'

/** Everybody who tells of a listing, this run's seeds among them, in the order of precedence. */
export function listTellers(draft: Draft, gone: ReadonlyMap<string, LockEntry>): Teller[] {
  const { source, seeds } = draft.input
  const told = new Map(seeds.map((seed) => [seed.key, seed]))
  const tellers = [...draft.entries].flatMap(([importer, entries]) => {
    if (importer === READER) return []
    const isOwn = importer === source.id
    const keys = isOwn ? new Set([...entries.keys(), ...told.keys()]) : entries.keys()
    return [...keys].sort().flatMap((key) => {
      if (isOwn && gone.has(key)) return []
      const seed = isOwn ? takeSeed(draft, told.get(key)) : null
      return toTeller(draft, { importer, key, seed, entry: entries.get(key) }) ?? []
    })
  })
  // A listing whose first teller withdrew it is the next one's, and keeps its address.
  for (const { file, own = file } of gone.values()) {
    const heir = own === file ? tellers.find(({ at }) => at === file) : undefined
    if (heir !== undefined) heir.own = file
  }
  return tellers
}

/** @returns null for what people keep out or keep to themselves. */
function takeSeed(draft: Draft, seed: Seed | undefined): Seed | null {
  if (seed === undefined) return null
  const rule = findHandsOff(draft.input.handsOff, seed)
  if (rule === undefined) return seed
  const file = draft.own.get(seed.key)?.file ?? fileOf(seed)
  if (rule.rule === 'leave_as_is') keep(draft, seed, file, 'left_as_is')
  else {
    const isListed = draft.own.has(seed.key) && draft.input.existing.has(file)
    const still = isListed ? `; ${file} is still there and should be removed` : ''
    refuse(draft, seed, 'opted_out', `${rule.reason}${still}`)
  }
  return null
}

type Known = Pick<Teller, 'importer' | 'key' | 'seed'> & { entry: LockEntry | undefined }

function toTeller(draft: Draft, { importer, key, seed, entry }: Known): Teller | null {
  const { existing } = draft.input
  if (entry === undefined && seed === null) return null
  const at = entry === undefined || entry.withdrawn === true ? null : findFile(draft, entry, seed)
  if (entry !== undefined && at === null && !isReturning(draft, entry, seed)) {
    if (seed !== null) keep(draft, seed, entry.file, 'removed_by_people')
    return null
  }
  const there = at === null ? undefined : existing.get(at)
  const said = seed?.facts ?? entry?.said
  const own = entry?.own ?? (at === null ? entry?.file : at) ?? (seed === null ? '' : fileOf(seed))
  return {
    ...(said === undefined ? (there ?? identify({})) : identify(said)),
    importer,
    key,
    own,
    at,
    seed,
    wrote: entry?.wrote ?? {},
    facts: () => seed?.facts ?? toSaidFacts(said ?? there?.fields ?? {}),
  }
}

/** Where an entry's file is now: people rename, and a listing that joined another left its address. */
function findFile(draft: Draft, { file, wrote }: LockEntry, seed: Seed | null): string | null {
  const { existing, machine } = draft.input
  if (existing.has(file)) return file
  const { replaced_by: next } = membersOf(machine.get(tombstoneFileOf(file)))
  if (typeof next === 'string' && existing.has(listingFileOf(next))) return listingFileOf(next)
  if (seed === null || wrote.name === undefined) return null
  const marks = new Set(identify(seed.facts).marks)
  const seeded = findSeeded(draft)
  const isMoved = (there: ExistingListing) =>
    !seeded.has(there.file) && there.marks.some((mark) => marks.has(mark))
  return [...existing.values()].find(isMoved)?.file ?? null
}

function isReturning(draft: Draft, entry: LockEntry, seed: Seed | null): boolean {
  const tombstone = membersOf(draft.input.machine.get(tombstoneFileOf(entry.file)))
  return seed !== null && entry.withdrawn === true && tombstone.by === draft.input.source.id
}

/** Files that some importer wrote and keeps: a listing's name is among the first things one writes. */
function findSeeded({ entries }: Draft): Set<string> {
  const seeded = new Set<string>()
  for (const each of entries.values())
    for (const { file, wrote } of each.values()) if (wrote.name !== undefined) seeded.add(file)
  return seeded
}

/** Listings of people alone, sorted by file: none that an importer wrote to the byte. */
export function findHandMade(draft: Draft, tellers: readonly Teller[]): ExistingListing[] {
  const seeded = findSeeded(draft)
  for (const { at, own, seed, wrote } of tellers) {
    if (at !== null && wrote.name !== undefined) seeded.add(at)
    if (at === null && seed !== null && isOwnRender(draft.input.existing.get(own), seed))
      seeded.add(own)
  }
  return [...draft.input.existing.values()]
    .filter(({ file }) => !seeded.has(file))
    .sort((a, b) => (a.file < b.file ? -1 : 1))
}

/** Memory was lost, but the file is the importer's to the byte. */
export function isOwnRender(there: ExistingListing | undefined, seed: Seed): boolean {
  const added = there?.fields?.get('added')
  return typeof added === 'string' && there?.text === renderListing(seed.facts, added)
}
