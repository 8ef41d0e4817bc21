import { normalizePayout } from '../../domain/listing/caip-account.ts'
import { hostOf, isOnSiteOf, ownerAt, type SharedHosts } from '../../domain/owners/shared-hosts.ts'
import { AGE_LIMITS, ageOf } from '../../domain/trust/age.ts'
import type { Evidence } from '../../domain/trust/evidence.ts'
import { createLineFinder, type LineFinder } from './parse-yaml.ts'
import type { PartialListing } from './read-listings.ts'
import { type Fault, faultOf, toField } from './schema-faults.ts'

/** Warnings for a maintainer that do not fail the build. */

type Path = (string | number)[]

/** One service is one listing: the later one with the same URL, endpoint or package is reported. */
export function findDuplicates(listings: readonly PartialListing[]): Fault[] {
  const first = new Map<string, PartialListing>()
  const toWarning = createWarner()
  return listings.flatMap((listing) =>
    keysOf(listing).flatMap(({ key, what, path }) => {
      const other = first.get(key)
      if (other === undefined) first.set(key, listing)
      if (other === undefined || other.id === listing.id) return []
      const message = `the same ${what} as ${other.id}; one thing a buyer chooses is one listing`
      return [toWarning(listing, path, message)]
    }),
  )
}

const STALE_DAYS = 365
const DAY_MS = 86_400_000

/**
 * Listings that no person or machine has looked at for a year, and those dated in the future; and
 * measures that count no longer, or soon.
 *
 * @param today `AS_OF`, such as 2026-11-26
 */
export function findStale(
  listings: readonly PartialListing[],
  evidence: ReadonlyMap<string, Evidence>,
  today: string,
): Fault[] {
  const toWarning = createWarner()
  const limit = new Date(Date.parse(today) - STALE_DAYS * DAY_MS).toISOString().slice(0, 10)
  return listings.flatMap((listing) => {
    const { added } = listing.facts
    const known = evidence.get(listing.id)
    const measure = toOldMeasure(known?.measured, today)
    const old = measure === null ? [] : [toWarning(listing, [], measure)]
    if (added === undefined) return old
    if (added > today)
      return [...old, toWarning(listing, ['added'], `a day to come; expected ${today} or earlier`)]
    const seen = lastSeen(added, known)
    const unseen = `last looked at on ${seen}, over ${STALE_DAYS} days ago`
    return seen < limit ? [...old, toWarning(listing, ['added'], unseen)] : old
  })
}

/** Days after which a measure should be read again. */
const MEASURE_DAYS = 7

function toOldMeasure(measured: Evidence['measured'], today: string): string | null {
  if (measured === undefined || ageOf(measured.as_of, today) < MEASURE_DAYS) return null
  const end = measured.as_of.slice(0, 10)
  const last = new Date(Date.parse(end) + AGE_LIMITS.measured * DAY_MS).toISOString().slice(0, 10)
  const counts = last < today ? `counts no longer since ${last}` : `counts until ${last}`
  return `the window that ${measured.source} measured ended on ${end} and ${counts}; expected a newer measure`
}

function lastSeen(
  added: string,
  { probes = [], measured, interface: read, package_run: run }: Evidence = {},
): string {
  const times = [...probes.map(({ at }) => at), measured?.as_of, read?.at, run?.at]
  return [added, ...times.flatMap((time) => time?.slice(0, 10) ?? [])].sort().at(-1) ?? added
}

interface Key {
  key: string
  what: string
  path: Path
}

function keysOf({ facts }: PartialListing): Key[] {
  if (facts.first_party === true) return []
  const { url, http = [], invoke = [] } = facts
  return [
    ...(url === undefined ? [] : [{ key: `url ${toPlain(url)}`, what: 'url', path: ['url'] }]),
    ...http.map((operation, i) => ({
      key: `endpoint ${operation.method} ${toPlain(operation.url)}`,
      what: 'endpoint',
      path: ['http', i, 'url'],
    })),
    ...invoke.map((entry, i) =>
      entry.kind === 'mcp'
        ? { key: `endpoint ${toPlain(entry.url)}`, what: 'endpoint', path: ['invoke', i, 'url'] }
        : {
            key: `package ${entry.registry} ${toPackage(entry.identifier)}`,
            what: 'package',
            path: ['invoke', i, 'identifier'],
          },
    ),
  ]
}

/** @example toPlain('https://www.x.example/a/') → 'x.example/a' */
function toPlain(url: string): string {
  return url.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/+(?=$|[?#])/, '')
}

/** Names compare without case, images without their tag. */
function toPackage(identifier: string): string {
  return identifier.toLowerCase().replace(/(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?$/, '')
}

/** A listing may be warned of thousands of times: its text is read once. */
function createWarner() {
  const finders = new Map<string, LineFinder>()
  return ({ file, yaml }: PartialListing, path: Path, message: string): Fault => {
    const lineOf = finders.get(file) ?? createLineFinder(yaml)
    finders.set(file, lineOf)
    return faultOf(file, message, {
      line: lineOf(path),
      field: toField(path),
      severity: 'warning',
    })
  }
}

/** Listings of different owners that publish one payout: it counts for none until one proves it. */
export function checkPayouts(listings: readonly PartialListing[], shared: SharedHosts): Fault[] {
  const toWarning = createWarner()
  const published = listings.flatMap((listing) =>
    // A payout that no page of the seller's names counts for nobody.
    isOnSiteOf(listing.facts.payout_source, hostOf(listing.facts.url ?? '') ?? '', shared)
      ? (listing.facts.payout ?? []).map((payout, index) => ({ listing, payout, index }))
      : [],
  )
  return [...Map.groupBy(published, ({ payout }) => normalizePayout(payout)).values()]
    .filter((rows) => new Set(rows.map(({ listing }) => ownerOf(listing, shared))).size > 1)
    .flatMap((rows) =>
      rows.map(({ listing, payout, index }): Fault => {
        // A package has no host of its own: its file says which listing it is.
        const others = rows.filter(
          (row) => ownerOf(row.listing, shared) !== ownerOf(listing, shared),
        )
        const names = new Set(others.map((row) => ownerOf(row.listing, shared) || row.listing.file))
        const message = `${payout} is also published by the listing of ${[...names].sort().join(', ')}: payments to it count for none of them until one proves it`
        return { ...toWarning(listing, ['payout', index], message), field: `payout.${index}` }
      }),
    )
}

function ownerOf({ facts }: PartialListing, shared: SharedHosts): string {
  return ownerAt(hostOf(facts.url ?? '') ?? '', shared)
}
