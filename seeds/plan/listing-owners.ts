import type { ExistingListing } from '../content/existing-listing.ts'
import type { SeedMemory } from '../content/seed-lock.ts'
import { type ListingMark, marksOf, originOf } from '../facts/listing-marks.ts'
import type { Seed } from '../facts/seed-facts.ts'

/** Whose file a listing is: a source's, or a person's. */
export interface ListingOwner {
  file: string
  isHandMade: boolean
}

/** Who lists what, by every mark a listing is known by. */
export interface ListingOwners {
  byMark: ReadonlyMap<ListingMark, readonly ListingOwner[]>
  byRef: ReadonlyMap<string, ListingOwner>
  byOrigin: ReadonlyMap<string, ListingOwner>
  /** The first listing of an API at an origin, by its file. */
  byAnyOrigin: ReadonlyMap<string, ListingOwner>
}

export function indexOwners(
  existing: ReadonlyMap<string, ExistingListing>,
  memories: ReadonlyMap<string, SeedMemory>,
): ListingOwners {
  const seeded = seededFiles(memories)
  const byMark = new Map<ListingMark, ListingOwner[]>()
  const byRef = new Map<string, ListingOwner>()
  const byOrigin = new Map<string, ListingOwner>()
  const byAnyOrigin = new Map<string, ListingOwner>()
  const sorted = [...existing.values()].sort((a, b) => (a.file < b.file ? -1 : 1))
  for (const { file, marks, refs, wholeOrigin, fields } of sorted) {
    const owner: ListingOwner = { file, isHandMade: !seeded.has(file) }
    for (const mark of new Set(marks)) {
      const owners = byMark.get(mark)
      if (owners === undefined) byMark.set(mark, [owner])
      else owners.push(owner)
    }
    for (const ref of refs) if (owner.isHandMade || !byRef.has(ref)) byRef.set(ref, owner)
    if (wholeOrigin !== null) byOrigin.set(wholeOrigin, owner)
    const url = fields?.get('kind') === 'http_api' ? fields.get('url') : undefined
    const origin = typeof url === 'string' ? originOf(url) : null
    if (origin !== null && !byAnyOrigin.has(origin)) byAnyOrigin.set(origin, owner)
  }
  return { byMark, byRef, byOrigin, byAnyOrigin }
}

/** Files that some importer wrote and keeps. */
export function seededFiles(memories: ReadonlyMap<string, SeedMemory>): Set<string> {
  const files = new Set<string>()
  for (const { listings } of memories.values())
    for (const { file, joined } of listings.values()) if (joined !== true) files.add(file)
  return files
}

/**
 * The file that lists a seed's service already.
 *
 * A server: one shared endpoint is enough where a person wrote the file; an imported listing only
 * stands in for a server that offers nothing else. An API or an agent: the file that shares most of
 * its operations; one that lists a whole origin stands for each of them.
 */
export function findOwner(seed: Seed, owners: ListingOwners): string | null {
  const byEntry = findByEntry(seed, owners)
  if (seed.facts.kind !== 'mcp_server') return byEntry ?? findByMost(seed, owners)
  const endpoints = marksOf(seed.facts).map((mark) => pickOwner(owners.byMark.get(mark)))
  const byHand = endpoints.find((owner) => owner?.isHandMade === true)
  if (byHand !== undefined && byHand !== null) return byHand.file
  if (byEntry !== null) return byEntry
  const [first] = endpoints
  return first !== undefined && first !== null && endpoints.every((owner) => owner !== null)
    ? first.file
    : null
}

/** A person who renames a listing keeps it: the file nobody seeded that offers the same. */
export function findMoved(seed: Seed, owners: ListingOwners): string | null {
  for (const mark of marksOf(seed.facts)) {
    const moved = owners.byMark.get(mark)?.find(({ isHandMade }) => isHandMade)
    if (moved !== undefined) return moved.file
  }
  return null
}

function pickOwner(owners: readonly ListingOwner[] | undefined): ListingOwner | null {
  return owners?.find(({ isHandMade }) => isHandMade) ?? owners?.[0] ?? null
}

/** A list's README is the source of a hundred servers; an entry that names its key is one's. */
function findByEntry({ key, facts }: Seed, { byRef }: ListingOwners): string | null {
  for (const { ref } of facts.sources) {
    const owner = byRef.get(ref)
    if (owner?.isHandMade === true && ref.includes(encodeURIComponent(key))) return owner.file
  }
  return null
}

function findByMost(seed: Seed, { byMark, byOrigin, byAnyOrigin }: ListingOwners): string | null {
  const shared = new Map<string, number>()
  for (const mark of marksOf(seed.facts))
    for (const { file } of byMark.get(mark) ?? []) shared.set(file, (shared.get(file) ?? 0) + 1)
  const [best] = [...shared].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  if (best !== undefined) return best[0]
  const origin = seed.facts.kind === 'http_api' ? originOf(seed.facts.url) : null
  if (origin === null) return null
  const whole = byOrigin.get(origin)
  if (whole !== undefined) return whole.file
  // A source that names no operation stands for the whole origin, whoever was read first.
  const isWhole = (seed.facts.http ?? []).length === 0
  return isWhole ? (byAnyOrigin.get(origin)?.file ?? null) : null
}
