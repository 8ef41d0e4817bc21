import * as v from 'valibot'
import type { ListingFacts } from '../listing/listing-facts.ts'
import { toShownHost } from '../listing/target-url.ts'
import { textLike } from '../wire/shapes.ts'

const identifier = textLike(/^[a-z]+(?:_[a-z]+)*$/, 'expected an identifier such as no_price')
const line = v.pipe(v.string(), v.minLength(1), v.maxLength(1000))
const place = textLike(
  /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?(?:\/[^\s/?#]+)?$/,
  'expected a host such as api.example, or a host and path if strangers share the host, such as hub.example/tides',
)

/** A row in `tables/not_listed.yaml`: one reason, and the hosts that it keeps out. */
export const NotListedSchema = v.strictObject({
  id: identifier,
  /** The title above the hosts on `/not-listed`. */
  title: line,
  /** The end of the sentence "<host> is not listed: …", without a full stop. */
  reason: line,
  why: line,
  /** What the seller must do to be listed. */
  needed: line,
  hosts: v.array(place),
})
export type NotListed = v.InferOutput<typeof NotListedSchema>

/** Why one address is not listed, and what would change that. */
export const NotListedReasonSchema = v.object({
  host: v.string(),
  reason: v.string(),
  why: v.string(),
  needed: v.string(),
})
export type NotListedReason = v.InferOutput<typeof NotListedReasonSchema>

type Addresses = Pick<ListingFacts, 'url' | 'http' | 'invoke'>

/** The rows, minus hosts that now have a listing: an outdated table must not deny a listing. */
export function withoutListed(
  rows: readonly NotListed[],
  listings: readonly { facts: Addresses }[],
): NotListed[] {
  const listed = new Set(listings.flatMap(({ facts }) => listedPlaces(facts)))
  return rows.map((row) => ({ ...row, hosts: row.hosts.filter((host) => !listed.has(host)) }))
}

/** Every key under which a listing can be found. */
function listedPlaces({ url, http, invoke }: Addresses): string[] {
  const urls = [
    url,
    ...http.map((operation) => operation.url),
    ...invoke.flatMap((each) => (each.kind === 'mcp' ? [each.url] : [])),
  ]
  return urls.flatMap(placesOf)
}

/** @example placesOf('https://www.hub.example/tides/now') → ['hub.example/tides', 'hub.example'] */
function placesOf(address: string): string[] {
  const url = URL.parse(address)
  if (url === null) return []
  const host = url.host.replace(/^www\./, '')
  return [`${host}/${url.pathname.split('/')[1]}`, host]
}

/** Hosts at which listings are called, other than their own domains, each with its listing. */
export function toOtherHosts(
  listings: readonly { id: string; facts: Addresses }[],
): [host: string, id: string][] {
  const rows = listings.flatMap(({ id, facts }) => {
    const [, own = ''] = placesOf(facts.url)
    const domain = own.split('.').slice(-2).join('.')
    const hosts = listedPlaces(facts).filter((place) => !place.includes('/'))
    return hosts
      .filter((host) => host !== domain && !host.endsWith(`.${domain}`))
      .map((host) => [host, id] as const)
  })
  // If a host has several listings, the first by id: the answer only shows where to look.
  return [...new Map(rows.toReversed())].sort(([a], [b]) => (a < b ? -1 : 1))
}

type FindNotListed = (address: string) => NotListedReason | { host: string; listing: string }

/** Looks up an address without a listing; the most specific row in the table decides. */
export function createFindNotListed(
  rows: readonly NotListed[],
  otherHosts: readonly (readonly [host: string, id: string])[],
): FindNotListed {
  const byPlace = new Map(
    rows.flatMap(({ hosts, reason, why, needed }) =>
      hosts.map((host) => [host, { host, reason, why, needed }] as const),
    ),
  )
  const listings = new Map(otherHosts)
  return (address) => {
    const places = placesOf(address)
    const known = places.flatMap((place) => byPlace.get(place) ?? [])[0]
    const host = places.at(-1) ?? address
    const listing = listings.get(host)
    if (known !== undefined || listing === undefined) return known ?? { host, ...UNKNOWN }
    return { host, listing }
  }
}

const UNKNOWN = {
  reason: 'nobody has proposed it yet',
  why: 'No catalogue that we read names it with an address that can be called.',
  needed: 'Propose it at /report: an editor looks at it and decides.',
}

/** The note in a search for one address. */
export function toAddressNote(found: ReturnType<FindNotListed>): string {
  const shown = toShownHost(found.host)
  if ('listing' in found) return `${shown} belongs to ${found.listing}.`
  const { reason, why, needed } = found
  return `${shown} is not listed: ${reason}. ${why} How it could be listed: ${needed}`
}
