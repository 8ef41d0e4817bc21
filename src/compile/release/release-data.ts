import { basename } from 'node:path'
import type { CompiledSite } from '../../compiled.ts'
import type {
  PublishedFile,
  ReleaseFile,
  SearchChoices,
} from '../../domain/derived/release-file.ts'
import { toRegistryRows, toServerName } from '../../domain/doors/registry-entry.ts'
import { toTask } from '../../domain/tasks/task.ts'
import type { CategoriesView, SourcesView } from '../../domain/views/reference-views.ts'
import type { StatsView } from '../../domain/views/stats-view.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { COMPRESSION } from '../files/compress-files.ts'
import type { Manifest } from '../files/manifest.ts'
import type { ReleaseWriter } from '../files/release-writer.ts'
import { CONTENT_HASHES } from './content-hashes.ts'
import { type ListingParts, toLines } from './listing-parts.ts'
import { describe, type PageCode } from './page-code.ts'

/** What `release.json` says of files, by their path below the release. */
type Described = Record<string, PublishedFile>

export interface ReleaseData {
  name: string
  catalogue: Catalogue
  site: CompiledSite
  files: Manifest
  /** The rows that are written already. */
  rows: Described
  index: PublishedFile
  operations: PublishedFile
  pageCode: PageCode
}

/** What the functions read of listings. */
export function writeRows(
  writer: ReleaseWriter,
  catalogue: Catalogue,
  parts: ListingParts,
): Described {
  const { optedOut, gone } = catalogue
  return writeDescribed(writer, {
    'listings.ndjson': Buffer.concat(parts.live),
    'opted-out.ndjson': toLines(optedOut),
    'compare-rows.ndjson': Buffer.concat(parts.compare),
    'mcp-servers.ndjson': joinRegistryRows(catalogue, parts.registry),
    'ard-rows.ndjson': Buffer.concat(parts.ard),
    'paid-resources.ndjson': Buffer.concat(parts.paid),
    'tasks.ndjson': toLines(catalogue.tables.tasks.flatMap((row) => toTask(row) ?? [])),
    'task-sellers.ndjson': Buffer.concat(parts.tasks),
    'probe-plans.ndjson': Buffer.concat(parts.probe),
    'gone.ndjson': toLines(gone),
    [basename(CONTENT_HASHES)]: Buffer.concat(parts.hashes),
  })
}

/** By name; of two with one name a listed one, then the first by id (`toRegistryRows`). */
function joinRegistryRows(
  { listings, goneServers, baseUrl, tables }: Catalogue,
  parts: readonly Buffer[],
): Uint8Array {
  const rows = new Map<string, Uint8Array>()
  for (const [place, { id, facts }] of listings.entries()) {
    const [part, { name }] = [parts[place], toServerName(id, facts, baseUrl)]
    if (part !== undefined && part.length > 0 && !rows.has(name)) rows.set(name, part)
  }
  for (const row of toRegistryRows([], goneServers, { baseUrl, policies: tables.policies }))
    if (!rows.has(row.name)) rows.set(row.name, Buffer.from(toLines([row])))
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
  return Buffer.concat(sorted.map(([, row]) => row))
}

/** What they read of files. `release.json` comes last: it describes the rest. */
export function writeManifest(
  writer: ReleaseWriter,
  { name, catalogue, site, files, rows, pageCode, ...indexes }: ReleaseData,
): void {
  const described = writeDescribed(writer, {
    'files.ndjson': files.files,
    'copies.ndjson': files.copies,
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

function writeDescribed(
  writer: ReleaseWriter,
  data: Readonly<Record<string, string | Uint8Array>>,
): Described {
  const described = Object.entries(data).map(([file, text]) => {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text
    writer.write(file, bytes)
    return [`data/${file}`, describe(bytes)] as const
  })
  return Object.fromEntries(described)
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
