import { findInvokeGaps } from '../../domain/listing/invoke.ts'
import { prefixesFor } from '../../domain/listing/listing-id.ts'
import { isPaid } from '../../domain/listing/pricing.ts'
import {
  BASE_URL_PLACEHOLDER,
  isPlaceholderHost,
  isTunnelHost,
} from '../../domain/listing/target-url.ts'
import { findOperationFaults } from '../../domain/operation/operation-faults.ts'
import { findMapFaults } from '../../domain/tasks/map-faults.ts'
import { toTask } from '../../domain/tasks/task.ts'
import { findNearestName } from '../../domain/wire/nearest-name.ts'
import { createLineFinder } from './parse-yaml.ts'
import type { PartialFacts, PartialListing } from './read-listings.ts'
import type { PartialTables } from './read-tables.ts'
import { type Fault, toField } from './schema-faults.ts'

/**
 * Checks the fields of one listing against its path, the tables and each other. Fields with errors
 * of their own are absent, and the rest is still checked.
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

type Report = (path: (string | number)[], message: string, severity?: Fault['severity']) => void

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
      'expected first_party on kits only: other listings compete in the results',
    )
  if (kind !== 'http_api' && http.length > 0)
    report(['http'], 'expected http endpoints on http_api listings only')
  if (kind !== 'mcp_server' && invoke.length > 0)
    report(['invoke'], 'expected invoke entries on mcp_server listings only')
}

/** A table with errors of its own is absent: nothing is checked against it. */
function checkNames(facts: PartialFacts, tables: PartialTables, report: Report): void {
  const { categories = [], sources = [], http = [] } = facts
  const hold = (
    path: (string | number)[],
    what: string,
    id: string | undefined,
    rows: readonly { id: string }[] | undefined,
  ) => {
    const ids = rows?.map((row) => row.id)
    if (id !== undefined && ids?.includes(id) === false) report(path, toUnknown(what, id, ids))
  }
  categories.forEach((id, i) => {
    hold(['categories', i], 'category', id, tables.categories)
  })
  sources.forEach(({ source }, i) => {
    hold(['sources', i, 'source'], 'source', source, tables.sources)
  })
  http.forEach(({ task }, i) => {
    hold(['http', i, 'task'], 'task', task, tables.tasks)
  })
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
    report(['url'], `${host} is a documentation host, not a service`, 'warning')
  if (isTunnelHost(host)) report(['url'], `${host} is a temporary tunnel`, 'warning')
}

function toUnknown(what: string, id: string, known: readonly string[]): string {
  const nearest = findNearestName(id, known)
  const hint = nearest === null ? `one of ${known.join(', ')}` : `did you mean ${nearest}?`
  return `expected a known ${what}, got ${JSON.stringify(id)}; ${hint}`
}
