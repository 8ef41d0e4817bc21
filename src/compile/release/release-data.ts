import { basename } from 'node:path'
import type { CompiledSite } from '../../compiled.ts'
import { toLiveListing } from '../../domain/derived/live-listing-view.ts'
import type {
  PublishedFile,
  ReleaseFile,
  SearchChoices,
} from '../../domain/derived/release-file.ts'
import { toResourceRows } from '../../domain/doors/discovery-resource.ts'
import { toRegistryRows } from '../../domain/doors/registry-entry.ts'
import { planProbe } from '../../domain/probe/keep/plan-probe.ts'
import { toCompareRow } from '../../domain/views/compare-row.ts'
import type { CategoriesView, SourcesView } from '../../domain/views/reference-views.ts'
import type { StatsView } from '../../domain/views/stats-view.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import type { CarriedFile } from '../files/carry-over.ts'
import { COMPRESSION } from '../files/compress-file.ts'
import type { ReleaseWriter } from '../files/release-writer.ts'
import { MADE_FROM, type MadeFrom } from './begin-release.ts'
import { CONTENT_HASHES } from './content-hashes.ts'
import { describe, type PageCode } from './page-code.ts'

export interface ReleaseData {
  name: string
  catalogue: Catalogue
  /** Rows of `data/content-hashes.ndjson`. */
  hashes: readonly string[]
  site: CompiledSite
  /** Sorted by path. */
  files: readonly CarriedFile[]
  madeFrom: MadeFrom
  index: PublishedFile
  pageCode: PageCode
}

/** What the functions read. `release.json` comes last: it describes the rest. */
export function writeData(
  writer: ReleaseWriter,
  { name, catalogue, hashes, site, files, madeFrom, index, pageCode }: ReleaseData,
): void {
  const toLines = (rows: readonly unknown[]) =>
    rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const data = {
    'listings.ndjson': toLines(catalogue.listings.map(toLiveListing)),
    'opted-out.ndjson': toLines(catalogue.optedOut),
    'files.ndjson': toLines(files.map(({ entry }) => entry)),
    'copies.ndjson': toLines(files.flatMap(({ copies }) => copies ?? [])),
    [basename(MADE_FROM)]: JSON.stringify(madeFrom),
    'compare-rows.ndjson': toLines(
      catalogue.listings.map((listing) => toCompareRow(listing, catalogue.sources)),
    ),
    'mcp-servers.ndjson': toLines(
      toRegistryRows(catalogue.listings, catalogue.goneServers, catalogue.baseUrl),
    ),
    'paid-resources.ndjson': toLines(toResourceRows(catalogue.listings, catalogue.baseUrl)),
    'probe-plans.ndjson': toLines(
      catalogue.listings.flatMap(({ id, facts }) => planProbe(id, facts) ?? []),
    ),
    'gone.ndjson': toLines(catalogue.gone),
    [basename(CONTENT_HASHES)]: hashes.map((row) => `${row}\n`).join(''),
  }
  for (const [file, text] of Object.entries(data)) writer.write(file, text)
  const described = Object.entries(data).map(([file, text]) => [`data/${file}`, describe(text)])
  writer.writeJson('release.json', {
    name,
    base_url: catalogue.baseUrl,
    shared_hosts: catalogue.tables.sharedHosts,
    texts: catalogue.tables.site,
    also_search: catalogue.tables.alsoSearch,
    search_choices: toSearchChoices(site.stats, site.categories, site.sources),
    tasks: site.tasks.map(({ id, name }) => ({ id, name })),
    page_code: pageCode.folder,
    compression: COMPRESSION,
    files: { ...Object.fromEntries(described), 'data/search.index': index, ...pageCode.files },
  } satisfies ReleaseFile)
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
