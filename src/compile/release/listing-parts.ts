import type { CompiledListing } from '../../compiled.ts'
import { toCompareRow } from '../../domain/compare/compare-row.ts'
import { findDeclaredCalls, toDeclaredRows } from '../../domain/derived/declared-call.ts'
import type { DerivedListing } from '../../domain/derived/derived-listing.ts'
import { toArdRow } from '../../domain/doors/ard-entry.ts'
import { toResourceRows } from '../../domain/doors/discovery-resource.ts'
import { toRegistryRows } from '../../domain/doors/registry-entry.ts'
import type { LiveListing } from '../../domain/listing/live-listing.ts'
import { toTaskSellers } from '../../domain/plans/task-seller.ts'
import { planProbe } from '../../domain/probe/keep/plan-probe.ts'
import { markPath } from '../../domain/wire/links.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { toDocumentRow, toOperationDocuments, toSearchDocument } from '../engine/write-engine.ts'
import { type BuildCache, memoize, noCache } from '../files/build-cache.ts'
import { toSearchPage } from '../pages/page-indexes.ts'
import { toContentHash } from './content-hashes.ts'

interface Made {
  listing: DerivedListing
  compiled: CompiledListing
  catalogue: Catalogue
}

/** What a listing is in each file that holds all of them, as rows. */
const PARTS = {
  view: ({ compiled }: Made) => [compiled.view],
  hashes: ({ compiled }: Made) => [toContentHash(compiled, JSON.stringify(compiled.view))],
  live: ({ listing }: Made) => [toLiveListing(listing)],
  compare: ({ listing, catalogue }: Made) => [toCompareRow(listing, catalogue.sources)],
  registry: ({ listing, catalogue: { baseUrl, tables } }: Made) =>
    toRegistryRows([listing], [], { baseUrl, policies: tables.policies }),
  ard: ({ listing }: Made) => [toArdRow(listing)],
  paid: ({ listing, catalogue }: Made) => toResourceRows([listing], catalogue.baseUrl),
  tasks: ({ listing, catalogue }: Made) => toTaskSellers(listing, catalogue.tables.tasks),
  declared: ({ listing }: Made) => toDeclaredRows(listing),
  probe: ({ listing: { id, facts } }: Made) => [planProbe(id, facts) ?? []].flat(),
  page: ({ compiled }: Made) => (compiled.view.first_party ? [] : [toSearchPage(compiled)]),
  document: ({ listing, catalogue }: Made) =>
    [toSearchDocument(listing, catalogue.baseUrl)].map(toDocumentRow),
  operations: ({ listing, catalogue }: Made) =>
    toOperationDocuments(listing, catalogue.baseUrl).map(toDocumentRow),
}

/** Of each listing, in their order, its rows in each file: lines of JSON. */
export type ListingParts = Record<keyof typeof PARTS, Buffer[]>

/**
 * Listings whose rows lie in one stretch of memory: some 40 MB, as what is smaller is not given back to
 * the system when it is free.
 */
const AT_ONCE = 4000

/** No line of JSON has it. */
const END_OF_PART = '\0'

/**
 * Making and serializing rows takes most of a build's own time: those of listings that are made from
 * the same as in a build before are taken as they are.
 *
 * @param cache of the same code and tables
 */
export function toListingParts(
  catalogue: Catalogue,
  listings: readonly CompiledListing[],
  cache: BuildCache = noCache(),
): ListingParts {
  const parts: ListingParts = {
    view: [],
    hashes: [],
    live: [],
    compare: [],
    registry: [],
    ard: [],
    paid: [],
    tasks: [],
    declared: [],
    probe: [],
    page: [],
    document: [],
    operations: [],
  }
  const columns = Object.values(parts)
  for (let from = 0; from < listings.length; from += AT_ONCE) {
    const some = listings.slice(from, from + AT_ONCE)
    const bytes = Buffer.concat(
      some.map((compiled, at) => {
        const listing = catalogue.listings[from + at]
        if (listing === undefined) throw new Error(`${compiled.key}: expected its listing`)
        const make = () => makeParts({ listing, compiled, catalogue })
        return memoize(cache, `parts ${compiled.key}`, make)
      }),
    )
    splitParts(bytes, columns)
  }
  return parts
}

/** Each column in memory of its own: what is needed no more is free while the rest is still read. */
function splitParts(bytes: Buffer, columns: readonly Buffer[][]): void {
  const found = columns.map((): Buffer[] => [])
  for (let from = 0; from < bytes.length; )
    for (const column of found) {
      const end = bytes.indexOf(END_OF_PART, from)
      column.push(bytes.subarray(from, end))
      from = end + 1
    }
  for (const [place, parts] of found.entries()) {
    const joined = Buffer.concat(parts)
    let from = 0
    for (const { length } of parts) {
      columns[place]?.push(joined.subarray(from, from + length))
      from += length
    }
  }
}

function makeParts(made: Made): Uint8Array {
  const texts = Object.values(PARTS).map((toRows) => `${toLines(toRows(made))}${END_OF_PART}`)
  return Buffer.from(texts.join(''))
}

/** Rows of JSON, a line each. */
export function toLines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

export function toLiveListing(listing: DerivedListing): LiveListing {
  const { id, facts, mark, status, buy, surface, payouts, digest } = listing
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
    payout: [...payouts.owned],
    ...(payouts.contested.length > 0 && { payout_contested: [...payouts.contested] }),
    ...(declared.length > 0 && {
      declared: declared.map(({ method, url, digest }) => ({ method, url, digest })),
    }),
  }
}
