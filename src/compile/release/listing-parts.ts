import type { CompiledListing } from '../../compiled.ts'
import type { Catalogue } from '../../derive/catalogue.ts'
import { toCompareRow } from '../../domain/compare/compare-row.ts'
import { findDeclaredCalls, toDeclaredRows } from '../../domain/derived/declared-call.ts'
import type { DerivedListing } from '../../domain/derived/derived-listing.ts'
import { toArdRow } from '../../domain/doors/ard-entry.ts'
import { toResourceRows } from '../../domain/doors/discovery-resource.ts'
import { toRegistryRows } from '../../domain/doors/registry-entry.ts'
import type { LiveListing } from '../../domain/listing/live-listing.ts'
import { toTaskSellers } from '../../domain/plans/task-seller.ts'
import { newestOutcome } from '../../domain/probe/merge.ts'
import { planProbe } from '../../domain/probe/plan.ts'
import { markPath } from '../../domain/wire/links.ts'
import { toDocumentRow, toOperationDocuments, toSearchDocument } from '../engine/write-engine.ts'
import { KEY, memoize, noCache } from '../files/build-cache.ts'
import { digestOf } from '../files/release-writer.ts'
import { toSearchPage } from '../pages/page-indexes.ts'
import type { LazyListing } from '../pages/write-compiled.ts'
import { toContentHash } from './content-hashes.ts'

interface Made {
  listing: DerivedListing
  compiled: CompiledListing
  catalogue: Catalogue
}

/** A listing's rows in each file that holds all listings. */
const PARTS = {
  view: ({ compiled }: Made) => [compiled.view],
  hashes: ({ compiled }: Made) => [toContentHash(compiled, JSON.stringify(compiled.view))],
  live: ({ listing }: Made) => [toLiveListing(listing)],
  compare: ({ listing, catalogue }: Made) => [toCompareRow(listing, catalogue.sources)],
  registry: ({ listing, catalogue: { baseUrl, tables } }: Made) =>
    toRegistryRows([listing], [], { baseUrl, policies: tables.policies }),
  ard: ({ listing }: Made) => [toArdRow(listing)],
  paid: ({ listing, catalogue }: Made) => toResourceRows([listing], catalogue.baseUrl),
  tasks: ({ listing, catalogue }: Made) => toTaskSellers(listing, catalogue.tables),
  declared: ({ listing }: Made) => toDeclaredRows(listing),
  probe: ({ listing: { id, facts } }: Made) => [planProbe(id, facts) ?? []].flat(),
  page: ({ compiled }: Made) => (compiled.view.first_party ? [] : [toSearchPage(compiled)]),
  document: ({ listing, catalogue }: Made) =>
    [toSearchDocument(listing, catalogue)].map(toDocumentRow),
  operations: ({ listing, catalogue }: Made) =>
    toOperationDocuments(listing, catalogue).map(toDocumentRow),
}

/** Of a group of listings its rows in a file: lines of JSON. */
export type GroupParts = (name: keyof typeof PARTS) => Buffer

/** Listings side by side, in the order of ids: builds remember together what is made of them. */
export interface Group {
  listings: readonly LazyListing[]
  /** Names all that it is made from, beside tables and code. */
  key: string
}

/** How many listings a group has on average. */
const A_GROUP = 64

/** A group ends where an id says so: a listing that comes or goes changes one of them. */
export function groupListings(listings: readonly LazyListing[]): Group[] {
  return groupRows(listings, A_GROUP, ({ id }) => id).map((listings) => ({
    listings,
    key: digestOf(listings.map(({ key }) => key).join(), KEY),
  }))
}

/** @param size of a group on average */
export function groupRows<Row>(
  rows: readonly Row[],
  size: number,
  nameOf: (row: Row) => string,
): Row[][] {
  const ends = rows.flatMap((row, place) => {
    const isEnd = Number.parseInt(digestOf(nameOf(row), 4), 16) % size === 0
    return isEnd || place === rows.length - 1 ? [place + 1] : []
  })
  return ends.map((end, at) => rows.slice(ends[at - 1] ?? 0, end))
}

/**
 * Making and serializing rows takes most of a build's own time: those of groups that are made from the
 * same as in a build before are taken as they are.
 *
 * @param cache of the same code and tables
 */
export function toGroupParts(catalogue: Catalogue, group: Group, cache = noCache()): GroupParts {
  const bytes = memoize(cache, `parts ${group.key}`, () => makeParts(catalogue, group))
  const start = bytes.indexOf('\n') + 1
  // JSON.parse is typed `any`; `makeParts` wrote them.
  const ends: Record<string, number> = JSON.parse(bytes.toString('latin1', 0, start))
  const names = Object.keys(ends)
  return (name) => {
    const from = ends[names[names.indexOf(name) - 1] ?? ''] ?? 0
    return bytes.subarray(start + from, start + (ends[name] ?? 0))
  }
}

/** First where the rows of each file end, which lie one behind the other. */
function makeParts(catalogue: Catalogue, { listings }: Group): Uint8Array {
  const parts = Object.entries(PARTS).map(([name, toRows]) => ({ name, toRows, lines: [''] }))
  for (const compiled of listings)
    for (const { toRows, lines } of parts)
      lines.push(toLines(toRows({ listing: compiled.derived, compiled, catalogue })))
  const ends: Record<string, number> = {}
  let end = 0
  const rows = parts.map(({ name, lines }) => {
    const bytes = Buffer.from(lines.join(''))
    end += bytes.length
    ends[name] = end
    return bytes
  })
  return Buffer.concat([Buffer.from(`${JSON.stringify(ends)}\n`), ...rows])
}

/** Rows of JSON, one per line. */
export function toLines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

export function toLiveListing(listing: DerivedListing): LiveListing {
  const { id, facts, mark, status, buy, surface, payouts, digest, notices } = listing
  const probe = newestOutcome(listing.probes)
  const declared = findDeclaredCalls(listing)
  return {
    id,
    name: facts.name,
    digest,
    kind: facts.kind,
    url: facts.url,
    status,
    first_party: facts.first_party,
    ...(mark !== null && { mark: markPath(mark) }),
    buy: buy.buy,
    not_relayable_reason: buy.reason,
    methods: [...new Set(surface.operations.map(({ method }) => method))],
    pricing: facts.pricing,
    ...(probe !== undefined && { probe }),
    ...(notices.some(({ id }) => id === 'disputed') && { disputed: true }),
    payout: [...payouts.owned],
    ...(payouts.contested.length > 0 && { payout_contested: [...payouts.contested] }),
    ...(declared.length > 0 && {
      declared: declared.map(({ method, url, digest }) => ({ method, url, digest })),
    }),
  }
}
