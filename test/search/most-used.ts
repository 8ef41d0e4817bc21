/**
 * The hundred most used services of our own content, by what others count, and what a search for the
 * name of each answers first.
 */
import type { DerivedListing } from '../../src/domain/derived/derived-listing.ts'
import { ownDomainOf } from '../../src/domain/sellers/claim-rules.ts'
import { largestOf } from '../../src/domain/wire/json.ts'
import { SHARED_HOSTS } from '../support/shared-hosts.ts'

const MOST = 100
/** What others count, each in a unit of its own: a listing's place is its best one in any of them. */
const COUNTS = ['calls', 'downloads', 'stars'] as const

/** A name that was asked, the listings that answer it, and what was first. */
export interface NameAnswer {
  name: string
  wanted: readonly string[]
  first: string
}

/**
 * Asks for the names of the most used: as they are listed, and as people say them.
 * @param firstFor the id of the first answer
 */
export function askForMostUsed(
  listings: readonly DerivedListing[],
  firstFor: (q: string) => string | undefined,
): NameAnswer[] {
  const names = findMostUsed(listings).flatMap(({ facts: { name } }) => [name, statedName(name)])
  return [...new Set(names)].map((name) => ({
    name,
    wanted: listingsNamed(listings, name),
    first: firstFor(name) ?? 'nothing',
  }))
}

function findMostUsed(listings: readonly DerivedListing[]): DerivedListing[] {
  const places = new Map<DerivedListing, number>()
  for (const count of COUNTS) {
    // A count that is too old for a page still says whose name people know.
    const used = ({ evidence, past }: DerivedListing) =>
      largestOf(
        [...(evidence.reported_use ?? []), ...(past?.reported_use ?? [])].map(({ what, value }) =>
          what === count ? value : 0,
        ),
      )
    const counted = listings.filter((listing) => used(listing) > 0)
    counted.sort((a, b) => used(b) - used(a))
    for (const [place, listing] of counted.entries())
      places.set(listing, Math.min(places.get(listing) ?? place, place))
  }
  const ordered = [...places].sort(([, a], [, b]) => a - b)
  return ordered.slice(0, MOST).map(([listing]) => listing)
}

/** @example saidName('MCP Acme (community)') → 'Acme' */
function statedName(name: string): string {
  const stated = name
    .replace(/\([^)]*\)/g, '')
    .replace(/\b(?:MCP|API|server)\b/gi, '')
    .replace(/\s+/g, ' ')
  return stated.trim() || name
}

/**
 * Who may be first: of the listings with just that name, or with a name that starts with it, the
 * seller's own, whose address has the name. The content names who else made it in brackets behind it.
 */
function listingsNamed(listings: readonly DerivedListing[], requested: string): string[] {
  const plain = (text: string) => text.toLowerCase()
  const name = plain(requested)
  const named = (isNamed: (name: string, url: string) => boolean) =>
    listings.filter(({ facts }) => isNamed(plain(facts.name), plain(facts.url)))
  const isStated = (own: string) => plain(statedName(own)) === plain(statedName(name))
  const kinds = [
    named((own) => own === name),
    named((own) => isStated(own) && !own.includes('(')),
    named(
      (own, url) => own.startsWith(`${name} `) && ownerOf(url).includes(name) && !own.includes('('),
    ),
    named(isStated),
  ]
  const found = kinds.find(({ length }) => length > 0) ?? []
  return found.map(({ id }) => id)
}

/** The host, and the account on it where it is one for strangers. */
function ownerOf(url: string): string {
  const { hostname, pathname } = new URL(url)
  return ownDomainOf(url, SHARED_HOSTS) === null ? (pathname.split('/')[1] ?? '') : hostname
}
