import type { Tables } from '../../domain/derived/tables.ts'
import type { ListingFacts } from '../../domain/listing/listing-facts.ts'
import { prefixesFor } from '../../domain/listing/listing-id.ts'
import { isPaid } from '../../domain/listing/pricing.ts'
import {
  BASE_URL_PLACEHOLDER,
  isPlaceholderHost,
  isTunnelHost,
} from '../../domain/listing/target-url.ts'
import { findOperationFaults } from '../../domain/operation/operation-faults.ts'
import { isKnownEndpoint } from '../../domain/views/roadmap-view.ts'
import { findNearestName } from '../../domain/wire/nearest-name.ts'
import type { Fault } from './fault.ts'
import { findYamlLine } from './parse-yaml.ts'
import type { ComparePage } from './read-compare.ts'
import type { ListingFile } from './read-listings.ts'
import { toField } from './schema-faults.ts'

/** What no single file can know: ids, tables and other files held against each other. */
export function checkAcross(
  listings: readonly ListingFile[],
  pages: readonly ComparePage[],
  tables: Tables,
): Fault[] {
  const known = {
    categories: tables.categories.map(({ id }) => id),
    sources: tables.sources.map(({ id }) => id),
    tasks: tables.tasks.map(({ id }) => id),
  }
  const ids = new Set(listings.map(({ id }) => id))
  return [
    ...listings.flatMap((listing) => checkListing(listing, known)),
    ...pages.flatMap((page) => checkPage(page, ids)),
    ...checkTables(tables, ids),
  ]
}

type Known = { categories: string[]; sources: string[]; tasks: string[] }

function checkListing(listing: ListingFile, known: Known): Fault[] {
  const { file, yaml } = listing
  const faults: Fault[] = []
  const report: Report = (path, message, severity = 'error') => {
    faults.push({ file, line: findYamlLine(yaml, path), field: toField(path), message, severity })
  }
  checkKind(listing, report)
  checkNames(listing.facts, known, report)
  checkHost(listing.facts, report)
  for (const { path, message } of findOperationFaults(listing.facts)) report(path, message)
  return faults
}

type Report = (path: (string | number)[], message: string, severity?: Fault['severity']) => void

function checkKind(listing: ListingFile, report: Report): void {
  const { id, facts } = listing
  const prefixes = prefixesFor(facts.kind, isPaid(facts.pricing))
  const folders = prefixes.join(' or listings/')
  if (!prefixes.some((prefix) => id.startsWith(`${prefix}.`)))
    report(['kind'], `expected the file under listings/${folders} for ${describe(listing)}`)
  if (facts.first_party && facts.kind !== 'kit')
    report(
      ['first_party'],
      'expected first_party on kits only: other listings compete in the results',
    )
  if (facts.kind !== 'http_api' && facts.http.length > 0)
    report(['http'], 'expected http endpoints on http_api listings only')
  if (facts.kind !== 'mcp_server' && facts.invoke.length > 0)
    report(['invoke'], 'expected invoke entries on mcp_server listings only')
}

function checkNames(
  { categories, sources, http }: ListingFacts,
  known: Known,
  report: Report,
): void {
  categories.forEach((category, i) => {
    if (!known.categories.includes(category))
      report(['categories', i], toUnknown('category', category, known.categories))
  })
  sources.forEach(({ source }, i) => {
    if (!known.sources.includes(source))
      report(['sources', i, 'source'], toUnknown('source', source, known.sources))
  })
  http.forEach(({ task }, i) => {
    if (task !== undefined && !known.tasks.includes(task))
      report(['http', i, 'task'], toUnknown('task', task, known.tasks))
  })
}

function checkHost({ url, first_party, sources }: ListingFacts, report: Report): void {
  const isOurs = (text: string) => text.startsWith(BASE_URL_PLACEHOLDER)
  if (!first_party && isOurs(url))
    report(['url'], 'expected an absolute URL: {base_url} is for first-party listings')
  sources.forEach(({ ref }, i) => {
    if (!first_party && isOurs(ref))
      report(
        ['sources', i, 'ref'],
        'expected an absolute URL: {base_url} is for first-party listings',
      )
  })
  const host = URL.parse(url)?.hostname ?? ''
  if (isPlaceholderHost(host))
    report(['url'], `${host} is a documentation host, not a service`, 'warning')
  if (isTunnelHost(host)) report(['url'], `${host} is a temporary tunnel`, 'warning')
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

function checkTables(
  { roadmap, site, categories, sources, tasks }: Tables,
  ids: ReadonlySet<string>,
): Fault[] {
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
  for (const id of site.showcase)
    if (!ids.has(id))
      report('site', `showcase: ${id} is not in the content and is skipped`, 'warning')
  for (const [table, rows] of [
    ['categories', categories],
    ['sources', sources],
    ['tasks', tasks],
  ] as const)
    for (const id of findRepeated(rows.map((row) => row.id)))
      report(table, `expected each id once, got ${id} again`, 'error')
  return faults
}

function findRepeated(ids: readonly string[]): string[] {
  return ids.filter((id, i) => ids.indexOf(id) !== i)
}

function describe({ facts }: ListingFile): string {
  return isPaid(facts.pricing) ? `a paid ${facts.kind}` : `an unpaid ${facts.kind}`
}

function toUnknown(what: string, id: string, known: readonly string[]): string {
  const nearest = findNearestName(id, known)
  const hint = nearest === null ? `one of ${known.join(', ')}` : `did you mean ${nearest}?`
  return `expected a known ${what}, got ${JSON.stringify(id)}; ${hint}`
}
