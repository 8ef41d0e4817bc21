import { basename } from 'node:path'
import type { CompiledSite } from '../../compiled.ts'
import type { Catalogue } from '../../derive/catalogue.ts'
import type { ReleaseFile, SearchChoices } from '../../domain/derived/release-file.ts'
import { toRegistryRows, toServerName } from '../../domain/doors/registry-entry.ts'
import { toTask } from '../../domain/tasks/task.ts'
import { toOtherHosts } from '../../domain/unlisted/not-listed.ts'
import type { CategoriesView, SourcesView } from '../../domain/views/reference-views.ts'
import type { StatsView } from '../../domain/views/stats-view.ts'
import type { ReleaseFiles } from '../files/release-files.ts'
import { splitRows } from '../files/release-writer.ts'
import { CONTENT_HASHES } from './content-hashes.ts'
import { type Group, type GroupParts, toLines } from './listing-parts.ts'

/** Files of the rows that listings are in them, a group behind the other. */
const FILES = [
  ['listings.ndjson', 'live'],
  ['compare-rows.ndjson', 'compare'],
  ['ard-rows.ndjson', 'ard'],
  ['paid-resources.ndjson', 'paid'],
  ['task-sellers.ndjson', 'tasks'],
  ['declared-calls.ndjson', 'declared'],
  ['probe-plans.ndjson', 'probe'],
  [basename(CONTENT_HASHES), 'hashes'],
] as const

/** Begins what the functions read of listings. */
export function beginRows(data: ReleaseFiles, catalogue: Catalogue) {
  const { optedOut, gone, tables } = catalogue
  const begun = FILES.map(([file, name]) => ({ name, ...data.begin(file) }))
  const servers = beginRegistryRows(catalogue)
  return {
    add(group: Group, parts: GroupParts): void {
      for (const { name, write } of begun) write(parts(name))
      servers.add(group, parts('registry'))
    },
    finish(): void {
      for (const { finish } of begun) finish()
      data.write('mcp-servers.ndjson', servers.join())
      data.write('opted-out.ndjson', toLines(optedOut))
      data.write('tasks.ndjson', toLines(tables.tasks.flatMap((row) => toTask(row) ?? [])))
      data.write('gone.ndjson', toLines(gone))
    },
  }
}

/** By name; of two with the same name a listed one, then the first by id (`toRegistryRows`). */
function beginRegistryRows({ goneServers, baseUrl, tables }: Catalogue) {
  const rows = new Map<string, Uint8Array>()
  return {
    add({ listings }: Group, part: Buffer): void {
      const lines = splitRows(Buffer.from(part))
      const servers = listings.filter(({ derived }) => derived.facts.kind === 'mcp_server')
      for (const [at, { id, derived }] of servers.entries()) {
        const [line, { name }] = [lines[at], toServerName(id, derived.facts, baseUrl)]
        if (line !== undefined && !rows.has(name)) rows.set(name, line)
      }
    },
    join(): Uint8Array {
      for (const row of toRegistryRows([], goneServers, { baseUrl, policies: tables.policies }))
        if (!rows.has(row.name)) rows.set(row.name, Buffer.from(toLines([row])))
      const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
      return Buffer.concat(sorted.map(([, row]) => row))
    },
  }
}

/** Facts about the release itself. */
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
