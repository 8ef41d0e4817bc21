import { prefixesFor } from '../domain/listing-id.ts'
import { findNearestName } from '../domain/nearest-name.ts'
import { isPaid } from '../domain/pricing.ts'
import { isKnownEndpoint } from '../domain/roadmap-view.ts'
import type { Tables } from '../domain/tables.ts'
import { BASE_URL_PLACEHOLDER, isPlaceholderHost, isTunnelHost } from '../domain/target-url.ts'
import type { Fault } from './fault.ts'
import { findYamlLine } from './parse-yaml.ts'
import type { ComparePage } from './read-compare.ts'
import type { ListingFile } from './read-listings.ts'

/** What no single file can know: ids, tables and other files held against each other. */
export function checkAcross(
  listings: readonly ListingFile[],
  pages: readonly ComparePage[],
  tables: Tables,
): Fault[] {
  const known = {
    categories: tables.categories.map(({ id }) => id),
    sources: tables.sources.map(({ id }) => id),
  }
  const ids = new Set(listings.map(({ id }) => id))
  return [
    ...listings.flatMap((listing) => checkListing(listing, known)),
    ...pages.flatMap((page) => checkPage(page, ids)),
    ...checkTables(tables, ids),
  ]
}

function checkListing(
  listing: ListingFile,
  known: { categories: string[]; sources: string[] },
): Fault[] {
  const { id, file, facts, yaml } = listing
  const faults: Fault[] = []
  const report = (
    path: (string | number)[],
    field: string,
    message: string,
    severity: Fault['severity'] = 'error',
  ) => faults.push({ file, line: findYamlLine(yaml, path), field, message, severity })
  const prefixes = prefixesFor(facts.kind, isPaid(facts.pricing))
  if (!prefixes.some((prefix) => id.startsWith(`${prefix}.`)))
    report(
      ['kind'],
      'kind',
      `expected the file under listings/${prefixes.join(' or listings/')} for ${describe(listing)}`,
    )
  facts.categories.forEach((category, i) => {
    if (!known.categories.includes(category))
      report(
        ['categories', i],
        `categories[${i}]`,
        toUnknown('category', category, known.categories),
      )
  })
  facts.sources.forEach(({ source }, i) => {
    if (!known.sources.includes(source))
      report(
        ['sources', i, 'source'],
        `sources[${i}].source`,
        toUnknown('source', source, known.sources),
      )
  })
  if (facts.first_party && facts.kind !== 'kit')
    report(
      ['first_party'],
      'first_party',
      'expected first_party on kits only: other listings compete in the results',
    )
  if (!facts.first_party && facts.url.startsWith(BASE_URL_PLACEHOLDER))
    report(['url'], 'url', 'expected an absolute URL: {base_url} is for first-party listings')
  if (facts.kind !== 'http_api' && facts.http.length > 0)
    report(['http'], 'http', 'expected http endpoints on http_api listings only')
  if (facts.kind !== 'mcp_server' && facts.invoke.length > 0)
    report(['invoke'], 'invoke', 'expected invoke entries on mcp_server listings only')
  const host = URL.parse(facts.url)?.hostname ?? ''
  if (isPlaceholderHost(host))
    report(['url'], 'url', `${host} is a documentation host, not a service`, 'warning')
  if (isTunnelHost(host)) report(['url'], 'url', `${host} is a temporary tunnel`, 'warning')
  return faults
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
  { roadmap, site, categories, sources }: Tables,
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
