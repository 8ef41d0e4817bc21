import type { Tombstone } from '../../domain/derived/tombstone.ts'
import { hostOf } from '../../domain/owners/shared-hosts.ts'
import { isKnownEndpoint } from '../../domain/views/reference-views.ts'
import { checkListing } from './check-listing.ts'
import { checkMoves } from './check-moves.ts'
import { checkPayouts, findDuplicates } from './listing-warnings.ts'
import type { PartialListing } from './read-listings.ts'
import type { ComparePage, PartialTables } from './read-tables.ts'
import { type Fault, faultOf } from './schema-faults.ts'

/**
 * Checks across files: ids, tables and other files are compared with each other. Files and tables
 * with errors of their own take part with their valid fields.
 */
export function checkAcross(
  listings: readonly PartialListing[],
  pages: readonly ComparePage[],
  tables: PartialTables,
  tombstones: ReadonlyMap<string, Tombstone> = new Map(),
): Fault[] {
  const ids = new Set(listings.map(({ id }) => id))
  return [
    ...listings.flatMap((listing) => checkListing(listing, tables)),
    ...findDuplicates(listings),
    ...pages.flatMap((page) => checkPage(page, ids, tables.tasks)),
    ...checkTables(tables, ids),
    ...(tables.sharedHosts === undefined ? [] : checkPayouts(listings, tables.sharedHosts)),
    ...(tables.sharedHosts === undefined
      ? []
      : checkMoves(tombstones, listings, tables.sharedHosts)),
  ]
}

function checkPage(
  { file, facts }: ComparePage,
  ids: ReadonlySet<string>,
  tasks: PartialTables['tasks'],
): Fault[] {
  const unknown = facts.sections
    .flatMap(({ task }) => task ?? [])
    .filter((task) => tasks?.some(({ id }) => id === task) === false)
  const named = [
    ...facts.first_party,
    ...facts.sections.flatMap((section) => section.rows.map((row) => row.id)),
  ]
  const missing = named.filter((id) => !ids.has(id))
  return [
    ...missing.map((id) =>
      faultOf(file, `expected ids of listings that exist, got ${id}`, { field: 'rows' }),
    ),
    ...unknown.map((task) =>
      faultOf(file, `expected an id of tables/tasks.yaml, got ${task}`, { field: 'task' }),
    ),
  ]
}

function checkTables(tables: PartialTables, ids: ReadonlySet<string>): Fault[] {
  const { roadmap = [], site } = tables
  const faults: Fault[] = []
  const report = (table: string, message: string, severity: Fault['severity']) =>
    faults.push(faultOf(`tables/${table}.yaml`, message, { severity }))
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
  for (const message of findTakenFrom(tables)) report('also_search', message, 'warning')
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

/** A directory is linked because nothing is copied from it: the table of sources must agree. */
function findTakenFrom({ alsoSearch = [], sources = [] }: PartialTables): string[] {
  return alsoSearch.flatMap(({ name, url }) => {
    const rows = sources.filter((row) => hostOf(row.url) === hostOf(url))
    if (rows.some(({ decision }) => decision === 'link_out')) return []
    const [taken] = rows
    return taken === undefined
      ? [`${name}: no row of tables/sources.yaml links to ${url}; expected one with link_out`]
      : [`${name}: ${taken.id} is a source of facts; expected it in only one table`]
  })
}

/** Tables whose rows are identified by a key of their own. */
function findRepeatedKeys({
  categories = [],
  sources = [],
  tasks = [],
  independentOperators = [],
}: PartialTables): (readonly [table: string, key: string])[] {
  const operators = independentOperators.map(({ domain }) => ({ id: domain }))
  const keyed = { categories, sources, tasks, independent_operators: operators }
  return Object.entries(keyed).flatMap(([table, rows]) => {
    const ids = rows.map(({ id }) => id)
    return ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => [table, id] as const)
  })
}
