import { followMoves, type Tombstone } from '../../domain/derived/tombstone.ts'
import { findHostOwner, hostOf, type SharedHosts } from '../../domain/owners/shared-hosts.ts'
import { parseFrontMatter } from './parse-front-matter.ts'
import type { PartialListing } from './read-listings.ts'
import { type Fault, faultOf } from './schema-faults.ts'

/** Moves of listings according to people: from each former id to the next. */
export function readMoves(tombstones: ReadonlyMap<string, Tombstone>): Map<string, string> {
  return new Map(
    [...tombstones].flatMap(([id, { moved_to }]) =>
      moved_to === undefined ? [] : [[id, moved_to]],
    ),
  )
}

/** Moves must end at a listing, and lead to another domain only where the former one says so. */
export function checkMoves(
  tombstones: ReadonlyMap<string, Tombstone>,
  listings: readonly PartialListing[],
  shared: SharedHosts,
): Fault[] {
  const moves = readMoves(tombstones)
  const byId = new Map(listings.map((listing) => [listing.id, listing]))
  return [...tombstones.values()].flatMap((tombstone) => {
    const message = findFault(tombstone, { moves, byId, shared })
    const { id } = tombstone
    return message === null ? [] : [faultOf(`tombstones/${id.replace('.', '/')}.json`, message)]
  })
}

interface Known {
  moves: ReadonlyMap<string, string>
  byId: ReadonlyMap<string, PartialListing>
  shared: SharedHosts
}

function findFault(tombstone: Tombstone, { moves, byId, shared }: Known): string | null {
  const { id, reason, moved_to, listing, said_at } = tombstone
  if (moved_to === undefined)
    return reason === 'moved'
      ? 'moved_to: expected the id it has now, as the reason is moved'
      : null
  if (reason !== 'moved') return `reason: expected moved with moved_to, got ${reason}`
  if (listing === undefined) return 'listing: expected the file as it was, to know its host by'
  const end = followMoves(moves, id)
  if (end === null) return `moved_to: ${id} moves in a circle, by ${moved_to}`
  const target = byId.get(end)
  if (target === undefined) return `moved_to: expected a listing that exists, got ${end}`
  const [was, is] = [urlIn(listing), target.facts.url ?? ''].map((url) => holderOf(url, shared))
  if (was === is || (said_at !== undefined && holderOf(said_at, shared) === was)) return null
  return `said_at: ${id} was on ${was} and ${end} is on ${is}: expected a page on ${was} that says so, got ${said_at ?? 'none'}; where nobody says so, ${end} is another service: give reason withdrawn and replaced_by`
}

/** The URL in the kept text of a listing; empty where it has none. */
export function urlIn(listing: string | undefined): string {
  const parsed = parseFrontMatter(listing ?? '')
  return parsed.ok ? String(Object(parsed.data).url ?? '') : ''
}

/** The owner of an address: on a platform shared by strangers, the account. */
function holderOf(url: string, shared: SharedHosts): string {
  const host = hostOf(url) ?? ''
  const owner = findHostOwner(host, shared)
  if (owner.kind === 'nobody') return host
  const isShared = owner.kind === 'owned' && owner.isPlatform
  return isShared ? `${host}/${new URL(url).pathname.split('/')[1]}` : owner.domain
}
