import { findInvokeGaps } from '../domain/listing/invoke.ts'
import { followMoves, type Tombstone } from '../domain/listing/listing-states.ts'
import { prefixesFor } from '../domain/listing/listing-text.ts'
import { normalizePayout } from '../domain/listing/networks.ts'
import { findOperationFaults } from '../domain/listing/operation.ts'
import { isPaid } from '../domain/listing/pricing.ts'
import {
  BASE_URL_PLACEHOLDER,
  isPlaceholderHost,
  isTunnelHost,
} from '../domain/listing/target-url.ts'
import {
  findHostOwner,
  hostOf,
  isOnSiteOf,
  ownerAt,
  type SharedHosts,
} from '../domain/sellers/claim-rules.ts'
import { marksOf } from '../domain/sources/join-rows.ts'
import { findMapFaults } from '../domain/tasks/map-faults.ts'
import { toTask } from '../domain/tasks/task.ts'
import { isKnownEndpoint } from '../domain/views/reference-views.ts'
import { findNearestName } from '../domain/wire/text.ts'
import { type Fault, faultOf, toField } from './faults.ts'
import { type PartialFacts, type PartialListing, parseFrontMatter } from './listing-file.ts'
import { digestOf, recall } from './recall.ts'
import type { ComparePage, PartialTables } from './tables.ts'
import { createLineFinder, type LineFinder } from './yaml.ts'

/**
 * Checks across files: compares ids, tables and other files with each other. Files and tables with
 * their own errors take part with their valid fields.
 */
export function checkAcross(
  listings: readonly PartialListing[],
  pages: readonly ComparePage[],
  tables: PartialTables,
  tombstones: ReadonlyMap<string, Tombstone> = new Map(),
): Fault[] {
  const ids = new Set(listings.map(({ id }) => id))
  const ofTables = digestOf(tables)
  return [
    ...listings.flatMap((listing) => {
      const check = () => checkListing(listing, tables)
      const { file, digest } = listing
      return digest === undefined ? check() : recall(`faults ${file}`, digest + ofTables, check)
    }),
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
      faultOf(file, `expected an id from tables/tasks.yaml, got ${task}`, { field: 'task' }),
    ),
  ]
}

function checkTables(tables: PartialTables, ids: ReadonlySet<string>): Fault[] {
  const { roadmap = [], site } = tables
  const faults: Fault[] = []
  const report = (table: string, message: string, severity: Fault['severity'] = 'error') =>
    faults.push(faultOf(`tables/${table}.yaml`, message, { severity }))
  for (const { id, endpoint } of roadmap)
    if (endpoint !== null && !isKnownEndpoint(endpoint))
      report(
        'roadmap',
        `${id}: expected an endpoint from the route table, got ${endpoint}; a planned feature has endpoint null`,
      )
  for (const id of site?.showcase ?? [])
    if (!ids.has(id))
      report(
        'site',
        `showcase: expected ids of listings that exist, got ${id}, which is skipped`,
        'warning',
      )
  for (const message of findTakenFrom(tables)) report('also_search', message, 'warning')
  for (const { id, allow = [] } of tables.policies ?? [])
    for (const listing of allow.filter((each) => !ids.has(each)))
      report('policies', `${id}.allow: expected ids of listings that exist, got ${listing}`)
  for (const [table, id] of findUnknownTasks(tables))
    report(table, `expected an id from tables/tasks.yaml, got ${id}`)
  for (const [table, key] of findRepeatedKeys(tables))
    report(table, `expected each key once, got ${key} again`)
  return faults
}

/** Ids of unknown tasks in tables that have words for tasks. */
function findUnknownTasks({ tasks, taskWords = {}, taskQuestions = {} }: PartialTables) {
  const known = new Set(tasks?.map(({ id }) => id))
  const keyed = Object.entries({ 'task-words': taskWords, 'task-questions': taskQuestions })
  return keyed.flatMap(([table, rows]) =>
    Object.keys(rows)
      .filter((id) => tasks !== undefined && !known.has(id))
      .map((id) => [table, id] as const),
  )
}

/** Finds linked directories that are also sources of facts: we copy nothing from a directory that we link to. */
function findTakenFrom({ alsoSearch = [], sources = [] }: PartialTables): string[] {
  return alsoSearch.flatMap(({ name, url }) => {
    const rows = sources.filter((row) => hostOf(row.url) === hostOf(url))
    if (rows.some(({ decision }) => decision === 'link_out')) return []
    const [taken] = rows
    return taken === undefined
      ? [`${name}: expected a link_out row for ${url} in tables/sources.yaml, got none`]
      : [
          `${name}: ${taken.id} in tables/sources.yaml is a source of facts, so it cannot also be linked here`,
        ]
  })
}

/** Keys that occur more than once, in the tables whose rows have a key of their own. */
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

/**
 * Checks the fields of one listing against its path, the tables and each other. Fields with their
 * own errors are absent, and the rest is still checked.
 */
export function checkListing(listing: PartialListing, tables: PartialTables): Fault[] {
  const { file, yaml, facts } = listing
  const faults: Fault[] = []
  const lineOf = createLineFinder(yaml)
  const report: Report = (path, message, severity = 'error') => {
    faults.push({ file, line: lineOf(path), field: toField(path), message, severity })
  }
  checkKind(listing, report)
  checkNames(facts, tables, report)
  checkHost(facts, report)
  for (const { path, message } of findOperationFaults(facts)) report(path, message)
  checkMaps(facts, tables, report)
  for (const { path, message } of findInvokeGaps(facts)) report(path, message, 'warning')
  return faults
}

type Path = (string | number)[]
type Report = (path: Path, message: string, severity?: Fault['severity']) => void

function checkKind({ id, facts }: PartialListing, report: Report): void {
  const { kind, pricing, http = [], invoke = [] } = facts
  if (kind === undefined) return
  if (pricing !== undefined) {
    const prefixes = prefixesFor(kind, isPaid(pricing))
    const what = isPaid(pricing) ? `a paid ${kind}` : `an unpaid ${kind}`
    if (!prefixes.some((prefix) => id.startsWith(`${prefix}.`)))
      report(
        ['kind'],
        `expected the file under listings/${prefixes.join(' or listings/')} for ${what}`,
      )
  }
  if (facts.first_party === true && kind !== 'kit')
    report(
      ['first_party'],
      'expected first_party on kits only: any other listing of ours would compete with sellers in the results',
    )
  if (kind !== 'http_api' && http.length > 0)
    report(['http'], 'expected no http endpoints: only http_api listings have them')
  if (kind !== 'mcp_server' && invoke.length > 0)
    report(['invoke'], 'expected no invoke entries: only mcp_server listings have them')
}

function checkNames(facts: PartialFacts, tables: PartialTables, report: Report): void {
  const { categories = [], sources = [], tasks = [], http = [], tools = [] } = facts
  const ofTask = (id: string | undefined, path: Path) => ({
    what: 'task',
    id,
    path,
    rows: tables.tasks,
  })
  const named = [
    ...categories.map((id, i) => {
      return { what: 'category', id, path: ['categories', i], rows: tables.categories }
    }),
    ...sources.map(({ source: id }, i) => {
      return { what: 'source', id, path: ['sources', i, 'source'], rows: tables.sources }
    }),
    ...tasks.map((id, i) => ofTask(id, ['tasks', i])),
    ...http.map(({ task }, i) => ofTask(task, ['http', i, 'task'])),
    ...tools.map(({ task }, i) => ofTask(task, ['tools', i, 'task'])),
  ]
  // A table with its own errors is absent: nothing is checked against it.
  for (const { what, id, path, rows } of named)
    if (id !== undefined && rows?.some((row) => row.id === id) === false)
      report(
        path,
        toUnknown(
          what,
          id,
          rows.map((row) => row.id),
        ),
      )
}

function checkMaps(
  { http = [] }: PartialFacts,
  { tasks = [] }: PartialTables,
  report: Report,
): void {
  http.forEach((operation, i) => {
    const row = tasks.find(({ id }) => id === operation.task)
    for (const { path, message } of findMapFaults(operation, row ? toTask(row) : null))
      report(['http', i, ...path], message)
  })
}

const OWN_ADDRESS = 'expected an absolute URL: {base_url} is for first-party listings'

function checkHost({ url = '', first_party, sources = [] }: PartialFacts, report: Report): void {
  const isForeignOurs = (text: string) =>
    first_party === false && text.startsWith(BASE_URL_PLACEHOLDER)
  if (isForeignOurs(url)) report(['url'], OWN_ADDRESS)
  sources.forEach(({ ref }, i) => {
    if (isForeignOurs(ref)) report(['sources', i, 'ref'], OWN_ADDRESS)
  })
  const host = URL.parse(url)?.hostname ?? ''
  if (isPlaceholderHost(host))
    report(
      ['url'],
      `expected the service's own host, got ${host}, which is for documentation`,
      'warning',
    )
  if (isTunnelHost(host))
    report(['url'], `expected a permanent host, got ${host}, a temporary tunnel`, 'warning')
}

function toUnknown(what: string, id: string, known: readonly string[]): string {
  const nearest = findNearestName(id, known)
  const hint = nearest === null ? `one of ${known.join(', ')}` : `did you mean ${nearest}?`
  return `expected a known ${what}, got ${JSON.stringify(id)}; ${hint}`
}

/** Warnings for a maintainer, which do not fail the build. */

/** Reports the later of two listings with the same URL, endpoint or package: one service is one listing. */
export function findDuplicates(listings: readonly PartialListing[]): Fault[] {
  const first = new Map<string, PartialListing>()
  const toWarning = createWarner()
  return listings.flatMap((listing) => {
    const { id, facts } = listing
    if (facts.first_party === true) return []
    const marks = [`url ${toPlain(facts.url ?? id)}`, ...marksOf(facts)]
    const mark = marks.find((each) => (first.get(each)?.id ?? id) !== id)
    const other = first.get(mark ?? '')
    for (const each of marks) if (!first.has(each)) first.set(each, listing)
    if (mark === undefined || other === undefined) return []
    const message = `the same ${mark} as ${other.id}: expected one listing per service`
    return [toWarning(listing, [FIELDS[mark.split(' ')[0] ?? ''] ?? 'url'], message)]
  })
}

/** The field from which each kind of mark comes; all other marks come from the listing's own address. */
const FIELDS: Readonly<Record<string, string>> = {
  operation: 'http',
  remote: 'invoke',
  package: 'invoke',
}

/** @example toPlain('https://www.x.example/a/') → 'x.example/a' */
function toPlain(url: string): string {
  return url.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/+(?=$|[?#])/, '')
}

/** Listings dated in the future. @param today `AS_OF` */
export function findFuture(listings: readonly PartialListing[], today: string): Fault[] {
  const toWarning = createWarner()
  const message = `expected ${today} or earlier, got a future day`
  return listings
    .filter(({ facts: { added = today } }) => added > today)
    .map((listing) => toWarning(listing, ['added'], message))
}

/** Parses each listing's text only once, because one listing may get thousands of warnings. */
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

/** Warns about a payout published by listings with different owners: one of them must prove it first. */
function checkPayouts(listings: readonly PartialListing[], shared: SharedHosts): Fault[] {
  const toWarning = createWarner()
  const published = listings.flatMap((listing) =>
    // A payout is accepted only if one of the seller's pages names it.
    isOnSiteOf(listing.facts.payout_source, hostOf(listing.facts.url ?? '') ?? '', shared)
      ? (listing.facts.payout ?? []).map((payout, index) => ({ listing, payout, index }))
      : [],
  )
  return [...Map.groupBy(published, ({ payout }) => normalizePayout(payout)).values()]
    .filter((rows) => new Set(rows.map(({ listing }) => ownerOf(listing, shared))).size > 1)
    .flatMap((rows) =>
      rows.map(({ listing, payout, index }): Fault => {
        // A package has no host of its own, so its listing is named by its file.
        const others = rows.filter(
          (row) => ownerOf(row.listing, shared) !== ownerOf(listing, shared),
        )
        const names = new Set(others.map((row) => ownerOf(row.listing, shared) || row.listing.file))
        const message = `${payout} is also published by the listing of ${[...names].sort().join(', ')}: payments to it are counted for none of these listings until one of them proves it`
        return { ...toWarning(listing, ['payout', index], message), field: `payout.${index}` }
      }),
    )
}

function ownerOf({ facts }: PartialListing, shared: SharedHosts): string {
  return ownerAt(hostOf(facts.url ?? '') ?? '', shared)
}

/** Moves that people recorded: for each former id of a listing, the next id. */
export function readMoves(tombstones: ReadonlyMap<string, Tombstone>): Map<string, string> {
  return new Map(
    [...tombstones].flatMap(([id, { moved_to }]) =>
      moved_to === undefined ? [] : [[id, moved_to]],
    ),
  )
}

/** Moves must end at a listing; a move to another domain must be announced on a page of the former domain. */
function checkMoves(
  tombstones: ReadonlyMap<string, Tombstone>,
  listings: readonly PartialListing[],
  shared: SharedHosts,
): Fault[] {
  const moves = readMoves(tombstones)
  const byId = new Map(listings.map((listing) => [listing.id, listing]))
  return [...tombstones.values()].flatMap((tombstone) => {
    const message = findFault(tombstone, { moves, byId, shared })
    const { id } = tombstone
    return message === null ? [] : [faultOf(`tombstones/${id.replace('.', '/')}.json`, message)]
  })
}

interface Known {
  moves: ReadonlyMap<string, string>
  byId: ReadonlyMap<string, PartialListing>
  shared: SharedHosts
}

function findFault(tombstone: Tombstone, { moves, byId, shared }: Known): string | null {
  const { id, reason, moved_to, listing, said_at: stated_at } = tombstone
  if (moved_to === undefined)
    return reason === 'moved'
      ? 'moved_to: expected the current id, because reason is "moved"'
      : null
  if (reason !== 'moved') return `reason: expected "moved" because of moved_to, got ${reason}`
  if (listing === undefined) return 'listing: expected the former file, which shows the former host'
  const end = followMoves(moves, id)
  if (end === null)
    return `moved_to: expected moves that end at a listing, got a loop from ${id} through ${moved_to}`
  const target = byId.get(end)
  if (target === undefined) return `moved_to: expected a listing that exists, got ${end}`
  const [was, is] = [wordIn(listing, 'url'), target.facts.url ?? ''].map((url) =>
    holderOf(url, shared),
  )
  if (was === is || (stated_at !== undefined && holderOf(stated_at, shared) === was)) return null
  return `said_at: ${id} was on ${was} and ${end} is on ${is}: expected a page on ${was} that announces the move, got ${stated_at ?? 'none'}; without such a page, give reason "withdrawn" and replaced_by`
}

/** A field in the text that a tombstone keeps of its listing; empty if the text lacks the field. */
export function wordIn(listing: string | undefined, field: 'url' | 'name'): string {
  const parsed = parseFrontMatter(listing ?? '')
  return parsed.ok ? String(Object(parsed.data)[field] ?? '') : ''
}

/** The owner of an address: on a platform shared by strangers, the account. */
function holderOf(url: string, shared: SharedHosts): string {
  const host = hostOf(url) ?? ''
  const owner = findHostOwner(host, shared)
  if (owner.kind === 'nobody') return host
  const isShared = owner.kind === 'owned' && owner.isPlatform
  return isShared ? `${host}/${new URL(url).pathname.split('/')[1]}` : owner.domain
}
