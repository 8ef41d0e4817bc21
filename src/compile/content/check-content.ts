import type { Tables } from '../../domain/derived/tables.ts'
import { isKnownEndpoint } from '../../domain/views/roadmap-view.ts'
import { checkListing, toKnownIds } from './check-listing.ts'
import type { Fault } from './fault.ts'
import { checkPayouts, findDuplicates } from './listing-warnings.ts'
import type { ComparePage } from './read-comparisons.ts'
import type { PartialListing } from './read-listings.ts'

/**
 * What no single file can know: ids, tables and other files held against each other. Files and
 * tables with faults of their own take part with what is sound in them.
 * @param today such as 2026-11-20
 */
export function checkAcross(
  listings: readonly PartialListing[],
  pages: readonly ComparePage[],
  tables: Partial<Tables>,
  today: string,
): Fault[] {
  const known = toKnownIds(tables)
  const ids = new Set(listings.map(({ id }) => id))
  return [
    ...listings.flatMap((listing) => checkListing(listing, known)),
    ...findDuplicates(listings),
    ...pages.flatMap((page) => checkPage(page, ids)),
    ...checkTables(tables, ids, today),
    ...(tables.sharedHosts === undefined ? [] : checkPayouts(listings, tables.sharedHosts)),
  ]
}

function checkPage({ file, facts }: ComparePage, ids: ReadonlySet<string>): Fault[] {
  const named = [
    ...facts.first_party,
    ...facts.sections.flatMap((section) => section.rows.map((row) => row.id)),
  ]
  return named
    .filter((id) => !ids.has(id))
    .map((id) => ({
      file,
      line: null,
      field: 'rows',
      message: `expected ids of listings that exist, got ${id}`,
      severity: 'error',
    }))
}

function checkTables(tables: Partial<Tables>, ids: ReadonlySet<string>, today: string): Fault[] {
  const { roadmap = [], site } = tables
  const faults: Fault[] = []
  const report = (table: string, message: string, severity: Fault['severity']) =>
    faults.push({ file: `tables/${table}.yaml`, line: null, field: '', message, severity })
  for (const { id, endpoint } of roadmap)
    if (endpoint !== null && !isKnownEndpoint(endpoint))
      report(
        'roadmap',
        `${id}: no route answers ${endpoint}; planned features have endpoint null`,
        'error',
      )
  for (const id of site?.showcase ?? [])
    if (!ids.has(id))
      report('site', `showcase: ${id} is not in the content and is skipped`, 'warning')
  if (site !== undefined && site.security.expires <= today)
    report(
      'site',
      `security.expires: expected a date to come, got ${site.security.expires}; see that the contact is still right`,
      'warning',
    )
  for (const { id, allow = [] } of tables.policies ?? [])
    for (const listing of allow.filter((each) => !ids.has(each)))
      report(
        'policies',
        `${id}.allow: expected ids of listings that exist, got ${listing}`,
        'error',
      )
  for (const [table, key] of findRepeatedKeys(tables))
    report(table, `expected each once, got ${key} again`, 'error')
  return faults
}

/** Tables whose rows are told apart by a key of their own. */
function findRepeatedKeys({
  categories = [],
  sources = [],
  tasks = [],
  independentOperators = [],
}: Partial<Tables>): [table: string, key: string][] {
  const keys = {
    categories: categories.map(({ id }) => id),
    sources: sources.map(({ id }) => id),
    tasks: tasks.map(({ id }) => id),
    independent_operators: independentOperators.map(({ domain }) => domain),
  }
  return Object.entries(keys).flatMap(([table, all]) =>
    findRepeated(all).map((key): [string, string] => [table, key]),
  )
}

function findRepeated(ids: readonly string[]): string[] {
  return ids.filter((id, i) => ids.indexOf(id) !== i)
}
