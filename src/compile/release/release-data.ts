import { basename } from 'node:path'
import type { CompiledSite } from '../../compiled.ts'
import { toCompareRow } from '../../domain/compare/compare-row.ts'
import type { DerivedListing } from '../../domain/derived/derived-listing.ts'
import type {
  PublishedFile,
  ReleaseFile,
  SearchChoices,
} from '../../domain/derived/release-file.ts'
import { toArdRow } from '../../domain/doors/ard-entry.ts'
import { toResourceRows } from '../../domain/doors/discovery-resource.ts'
import { toRegistryRows } from '../../domain/doors/registry-entry.ts'
import type { LiveListing } from '../../domain/listing/live-listing.ts'
import { planProbe } from '../../domain/probe/keep/plan-probe.ts'
import type { CategoriesView, SourcesView } from '../../domain/views/reference-views.ts'
import type { StatsView } from '../../domain/views/stats-view.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import type { CarriedFile } from '../files/carry-over.ts'
import { COMPRESSION } from '../files/compress-files.ts'
import type { ReleaseWriter } from '../files/release-writer.ts'
import { MADE_FROM, type MadeFrom } from './begin-release.ts'
import { CONTENT_HASHES } from './content-hashes.ts'
import { describe, type PageCode } from './page-code.ts'

/** What `release.json` says of files, by their path below the release. */
type Described = Record<string, PublishedFile>

export interface ReleaseData {
  name: string
  catalogue: Catalogue
  site: CompiledSite
  /** Sorted by path. */
  files: readonly CarriedFile[]
  madeFrom: MadeFrom
  /** The rows that are written already. */
  rows: Described
  index: PublishedFile
  operations: PublishedFile
  pageCode: PageCode
}

/**
 * What the functions read of listings.
 * @param hashes rows of `data/content-hashes.ndjson`
 */
export function writeRows(
  writer: ReleaseWriter,
  { listings, optedOut, sources, goneServers, gone, baseUrl, tables }: Catalogue,
  hashes: readonly string[],
): Described {
  return writeDescribed(writer, {
    'listings.ndjson': toLines(listings.map(toLiveListing)),
    'opted-out.ndjson': toLines(optedOut),
    'compare-rows.ndjson': toLines(listings.map((listing) => toCompareRow(listing, sources))),
    'mcp-servers.ndjson': toLines(
      toRegistryRows(listings, goneServers, { baseUrl, policies: tables.policies }),
    ),
    'ard-rows.ndjson': toLines(listings.map(toArdRow)),
    'paid-resources.ndjson': toLines(toResourceRows(listings, baseUrl)),
    'probe-plans.ndjson': toLines(listings.flatMap(({ id, facts }) => planProbe(id, facts) ?? [])),
    'gone.ndjson': toLines(gone),
    [basename(CONTENT_HASHES)]: hashes.map((row) => `${row}\n`).join(''),
  })
}

/** What they read of files. `release.json` comes last: it describes the rest. */
export function writeManifest(
  writer: ReleaseWriter,
  { name, catalogue, site, files, madeFrom, rows, pageCode, ...indexes }: ReleaseData,
): void {
  const described = writeDescribed(writer, {
    'files.ndjson': toLines(files.map(({ entry }) => entry)),
    'copies.ndjson': toLines(files.flatMap(({ copies }) => copies ?? [])),
    [basename(MADE_FROM)]: JSON.stringify(madeFrom),
  })
  writer.writeJson('release.json', {
    name,
    base_url: catalogue.baseUrl,
    shared_hosts: catalogue.tables.sharedHosts,
    texts: catalogue.tables.site,
    also_search: catalogue.tables.alsoSearch,
    peers: catalogue.tables.peers,
    search_choices: toSearchChoices(site.stats, site.categories, site.sources),
    tasks: site.tasks.map(({ id, name }) => ({ id, name })),
    page_code: pageCode.folder,
    compression: COMPRESSION,
    files: {
      ...rows,
      ...described,
      'data/search.index': indexes.index,
      'data/operations.index': indexes.operations,
      ...pageCode.files,
    },
  } satisfies ReleaseFile)
}

function toLines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

function writeDescribed(writer: ReleaseWriter, data: Readonly<Record<string, string>>): Described {
  for (const [file, text] of Object.entries(data)) writer.write(file, text)
  return Object.fromEntries(
    Object.entries(data).map(([file, text]) => [`data/${file}`, describe(text)]),
  )
}

/** The filter values of the search page: every category, and the sources that have listings. */
function toSearchChoices(
  { listings }: StatsView,
  { categories }: CategoriesView,
  { sources }: SourcesView,
): SearchChoices {
  const toChoice = ({ id, name, listings }: SearchChoices['sources'][number]) => ({
    id,
    name,
    listings,
  })
  return {
    kinds: listings.by_kind,
    rails: listings.by_rail,
    categories: categories.map(toChoice),
    sources: sources.filter(({ listings }) => listings > 0).map(toChoice),
  }
}

export function toLiveListing(listing: DerivedListing): LiveListing {
  const { id, facts, status, buy, surface, payouts, digest } = listing
  return {
    id,
    name: facts.name,
    digest,
    kind: facts.kind,
    url: facts.url,
    status,
    first_party: facts.first_party,
    buy: buy.buy,
    not_relayable_reason: buy.reason,
    methods: [...new Set(surface.operations.map(({ method }) => method))],
    pricing: facts.pricing,
    payout: [...payouts.counts],
    ...(payouts.contested.length > 0 && { payout_contested: [...payouts.contested] }),
    ...(payouts.seeded?.[0] !== undefined && { payout_seeded: [...payouts.seeded] }),
  }
}
