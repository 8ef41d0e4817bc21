import { basename } from 'node:path'
import type { CompiledSite } from '../../compiled.ts'
import type { ReleaseFile, SearchChoices } from '../../domain/derived/release-file.ts'
import { toRegistryRows, toServerName } from '../../domain/doors/registry-entry.ts'
import { toTask } from '../../domain/tasks/task.ts'
import { toOtherHosts } from '../../domain/unlisted/not-listed.ts'
import type { CategoriesView, SourcesView } from '../../domain/views/reference-views.ts'
import type { StatsView } from '../../domain/views/stats-view.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import type { ReleaseWriter } from '../files/release-writer.ts'
import { CONTENT_HASHES } from './content-hashes.ts'
import { type ListingParts, toLines } from './listing-parts.ts'

/** What the functions read of listings. */
export function writeRows(data: ReleaseWriter, catalogue: Catalogue, parts: ListingParts): void {
  const { optedOut, gone } = catalogue
  const rows: Record<string, string | Uint8Array> = {
    'listings.ndjson': Buffer.concat(parts.live),
    'opted-out.ndjson': toLines(optedOut),
    'compare-rows.ndjson': Buffer.concat(parts.compare),
    'mcp-servers.ndjson': joinRegistryRows(catalogue, parts.registry),
    'ard-rows.ndjson': Buffer.concat(parts.ard),
    'paid-resources.ndjson': Buffer.concat(parts.paid),
    'tasks.ndjson': toLines(catalogue.tables.tasks.flatMap((row) => toTask(row) ?? [])),
    'task-sellers.ndjson': Buffer.concat(parts.tasks),
    'declared-calls.ndjson': Buffer.concat(parts.declared),
    'probe-plans.ndjson': Buffer.concat(parts.probe),
    'gone.ndjson': toLines(gone),
    [basename(CONTENT_HASHES)]: Buffer.concat(parts.hashes),
  }
  for (const [file, text] of Object.entries(rows)) data.write(file, text)
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

/** What a release says of itself. */
export function toReleaseFile(
  { baseUrl, tables, listings }: Catalogue,
  site: CompiledSite,
  { name, pageCode }: { name: string; pageCode: string },
): Omit<ReleaseFile, 'list'> {
  return {
    name,
    base_url: baseUrl,
    shared_hosts: tables.sharedHosts,
    texts: tables.site,
    also_search: tables.alsoSearch,
    peers: tables.peers,
    not_listed: site.not_listed,
    other_hosts: toOtherHosts(listings),
    search_choices: toSearchChoices(site.stats, site.categories, site.sources),
    tasks: site.tasks.map(({ id, name }) => ({ id, name })),
    page_code: pageCode,
  }
}

/** The filter values of the search page: every category, and the sources that have listings. */
function toSearchChoices(
  { listings, updated }: StatsView,
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
    updated,
  }
}
