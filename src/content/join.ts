import type { ListingFacts, WrittenFacts } from '../domain/listing/listing-facts.ts'
import type { Tombstone } from '../domain/listing/listing-states.ts'
import { placeRows } from '../domain/sources/join-rows.ts'
import {
  type NamedRow,
  orderRows,
  SOURCE_FIELDS,
  type SourceFacts,
  type SourceField,
  type SourceFile,
} from '../domain/sources/source-row.ts'
import { hasPrices, type PastPrices, splitPrices } from '../domain/trust/age.ts'
import {
  type Evidence,
  type Interface,
  MAX_OPERATIONS,
  newestSignIn,
  type SeenOperation,
  uniteReports,
} from '../domain/trust/evidence.ts'
import type { Stated } from '../domain/views/listing-view.ts'
import type { RowDays } from '../domain/views/reference-views.ts'
import { present } from '../domain/wire/json.ts'
import { toOperationKey } from '../domain/wire/text.ts'
import { readMoves } from './check.ts'
import type { Fault } from './faults.ts'
import {
  joinListing,
  type ListingFile,
  type PartialListing,
  type readWritten,
  toLackFaults,
  type WrittenFile,
} from './listing-file.ts'

const PEOPLE = 'people'

interface ContentParts extends Pick<WrittenFiles, 'written' | 'broken'> {
  /** Files of sources, by importer. */
  sources: ReadonlyMap<string, SourceFile>
  /** Ids in `tables/sources.yaml`, in its order. */
  order: readonly string[]
  /** Measurements by probes and other sources, by id. */
  measured: ReadonlyMap<string, Evidence>
  tombstones: ReadonlyMap<string, Tombstone>
  /** The build's day, such as 2026-11-26: catalogue prices too old for it are dropped; if no day is given all stay. */
  asOf?: string | undefined
}

export type JoinedContent = ReturnType<typeof joinContent>

/** Joins people's files, sources and evidence into listings; the same files give the same listings. */
export function joinContent(parts: ContentParts) {
  const { written, sources, order, measured, tombstones, asOf } = parts
  const rows = orderRows(rowsOf(sources), order)
  const moves = readMoves(tombstones)
  const { taken, waiting } = placeRows([...written, ...parts.broken], rows, { moves })
  const [listings, broken, faults]: [ListingFile[], PartialListing[], Fault[]] = [[], [], []]
  const joined = {
    ...{ taken, waiting, listings, broken, faults },
    evidence: new Map(measured),
    /** Includes listings that their sources withdrew. */
    tombstones: new Map(tombstones),
    /** Former content of listings that their sources withdrew, by id. */
    withdrawn: new Map<string, ListingFacts>(),
    stated: new Map<string, Stated[]>(),
    /** Catalogues' prices that are too old, by id. */
    pastPrices: new Map<string, PastPrices>(),
    /** Days of the sources' rows, and of rows with prices, by id. */
    rowDays: new Map<string, RowDays>(),
  }
  for (const file of written)
    joinOne(joined, file, withoutOldPrices(joined, file, taken.get(file.id) ?? [], asOf))
  for (const partial of parts.broken) {
    broken.push(partial)
    for (const fault of toLackFaults(partial, taken.get(partial.id) ?? [])) faults.push(fault)
  }
  return joined
}

function joinOne(joined: JoinedContent, file: WrittenFile, rows: readonly NamedRow[]): void {
  const { id } = file
  const live = rows.filter(({ row }) => row.withdrawn === undefined)
  // A file with words but no facts needs a source: its listing ends with its last source.
  const isWords = file.facts.url === undefined || file.facts.kind === undefined
  const notice = toWithdrawnNotice(rows)
  if (notice !== null && isWords) {
    const last = joinListing(file, rows).listing
    const by = notice.note.split(' ')[0] ?? ''
    if (last !== null) joined.withdrawn.set(id, last.facts)
    joined.evidence.delete(id)
    joined.tombstones.set(id, { id, at: notice.at, reason: 'withdrawn', by })
    return
  }
  const { listing, partial, faults } = joinLasting(file, live, rows)
  for (const fault of faults) joined.faults.push(fault)
  if (partial !== null) joined.broken.push(partial)
  if (listing === null) return
  joined.listings.push(listing)
  if (rows.length === 0) return
  const seen = joinEvidence(joined.evidence.get(id) ?? {}, live)
  const notices = [
    ...(seen.notices ?? []),
    ...(notice === null ? [] : [notice]),
    ...toDeprecatedNotices(live),
  ]
  const evidence = notices.length === 0 ? seen : { ...seen, notices }
  if (Object.keys(evidence).length > 0) joined.evidence.set(id, evidence)
  const sayers = live.map(({ importer, row }) => ({ importer, facts: row.facts }))
  const origins = toOrigins(file.facts, sayers)
  const stated = live.flatMap((named) => {
    const part = toPart(named, origins, evidence.interface)
    return (named.row.facts.sources ?? []).map(({ source }) => ({ source, ...part }))
  })
  if (stated.length > 0) joined.stated.set(id, stated)
}

/** A listing's rows without prices that are too old, and the days of the rest. */
function withoutOldPrices(
  { pastPrices, rowDays }: JoinedContent,
  { id, facts }: WrittenFile,
  rows: readonly NamedRow[],
  asOf: string | undefined,
): NamedRow[] {
  const split = rows.map(({ row, ...named }) => {
    const day = row.read ?? row.added ?? facts.added
    const { current, past } = splitPrices(row.facts, day, asOf)
    return { named: { ...named, row: { ...row, facts: current } }, past, day }
  })
  const dated = split.flatMap(({ named, day }) => (day === undefined ? [] : [{ named, day }]))
  rowDays.set(id, {
    seeds: dated.map(({ day }) => day),
    prices: dated.flatMap(({ named, day }) => (hasPrices(named.row.facts) ? [day] : [])),
  })
  const pricing = split.flatMap(({ past }) => past.pricing)
  const operations = split.flatMap(({ past }) => past.operations)
  if (pricing.length + operations.length > 0) pastPrices.set(id, { pricing, operations })
  return split.map(({ named }) => named)
}

/** Keeps required facts that only the last source had: when that source withdraws, the build must not stop. */
function joinLasting(file: WrittenFile, live: readonly NamedRow[], rows: readonly NamedRow[]) {
  const joined = joinListing(file, live)
  return joined.listing === null && live.length === 0 ? joinListing(file, rows) : joined
}

/** Which of the listing's facts come verbatim from a source, and when they were read, if known. */
function toPart({ importer, row }: NamedRow, origins: Origins, seen: Evidence['interface']) {
  const facts = Object.entries(origins).flatMap(([field, sayers]) =>
    field !== 'sources' && sayers.includes(importer) ? [field] : [],
  )
  const read = row.evidence?.interface
  const isShown = read !== undefined && read.from === seen?.from
  const shown = isShown ? (['tools', 'skills'] as const).filter((name) => read[name]) : []
  const says = [...facts, ...shown]
  return { ...(says.length > 0 && { says }), ...(shown.length > 0 && { at: read?.at }) }
}

/** Every row from every source. */
export function rowsOf(files: ReadonlyMap<string, SourceFile>): NamedRow[] {
  return [...files].flatMap(([importer, { rows }]) =>
    Object.entries(rows).map(([key, row]) => ({ importer, key, row })),
  )
}

/** Who gave each fact: people, or importers by id, the winning one first. */
type Origins = Partial<Record<SourceField, readonly string[]>>

/** Facts with several entries, of which each source may contribute some. */
const UNITED: ReadonlySet<SourceField> = new Set(['http', 'invoke', 'discovery', 'sources'])

/** @param stated facts in order of precedence */
function toOrigins(
  written: WrittenFacts,
  stated: readonly { importer: string; facts: SourceFacts }[],
): Origins {
  const all = [{ importer: PEOPLE, facts: written }, ...stated]
  const named = SOURCE_FIELDS.flatMap((field) => {
    const sayers = all.filter(({ facts }) => says(facts[field])).map(({ importer }) => importer)
    const each = [...new Set(sayers)]
    return each.length === 0 ? [] : [[field, UNITED.has(field) ? each : each.slice(0, 1)] as const]
  })
  return Object.fromEntries(named)
}

/** Nothing, an empty list and "unknown" are not facts. */
function says(value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (Array.isArray(value)) return value.length > 0
  if (typeof value !== 'object') return true
  const [kind] = Object.values(value)
  return kind !== undefined && kind !== 'unknown'
}

/**
 * A listing's machine-read facts. If there are two measures, sets of signals or readings of the
 * seller itself, the newer is used; if both are equally old, our own. The seller's documents fill
 * in operations that a reading did not see; the catalogues' facts about its tools are merged.
 * @param measured the listing's own evidence file
 * @param rows the sources' rows, in order of precedence
 */
export function joinEvidence(measured: Evidence, rows: readonly NamedRow[]): Evidence {
  const reported = rows.flatMap(({ row }) => (row.evidence === undefined ? [] : [row.evidence]))
  if (reported.length === 0) return measured
  const all = [measured, ...reported]
  const numbers = newestOf(all.map((each) => each.measured))
  const signals = newestOf(all.map(datedSignals))
  const read = uniteInterfaces(
    all.flatMap((each) => (each.interface === undefined ? [] : [each.interface])),
  )
  const sign_in = newestSignIn(all)
  const reported_use = uniteReports(all)
  return {
    ...present({ measured: numbers, signals, interface: read }),
    ...(reported_use.length > 0 && { reported_use }),
    ...present({ sign_in }),
    ...withoutReported(measured),
  }
}

/** Signals without a day are as old as the measure they came with. */
function datedSignals({ signals, measured }: Evidence): Evidence['signals'] {
  return signals && { ...present({ as_of: measured?.as_of }), ...signals }
}

/** The newest fact, or the first of several that are equally new. */
function newestOf<Fact extends { as_of?: string | undefined }>(
  facts: readonly (Fact | undefined)[],
): Fact | undefined {
  return facts.reduce(
    (best, fact) => (fact && (fact.as_of ?? '') > (best?.as_of ?? '') ? fact : (best ?? fact)),
    undefined,
  )
}

function withoutReported({
  measured: _measured,
  signals: _signals,
  interface: _interface,
  sign_in: _signIn,
  reported_use: _reportedUse,
  ...rest
}: Evidence): Evidence {
  return rest
}

function uniteInterfaces(read: readonly Interface[]): Interface | undefined {
  // A catalogue or a server card does not show that the server itself answered.
  const own = read.filter(({ from }) => from !== 'catalog' && from !== 'server_card')
  const [newest, ...older] = own.toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
  if (newest !== undefined) return withDocuments(newest, older)
  const [first, ...others] = read
  return first === undefined || others.length === 0 ? first : uniteCatalogs(first, read)
}

/** A 402 states the prices of the operations that a probe called, a document the prices of all. */
function withDocuments(newest: Interface, older: readonly Interface[]): Interface {
  const looks = [newest, ...older]
  if (looks.every(({ operations = [] }) => operations.length === 0)) return newest
  const byKey = new Map<string, SeenOperation>()
  for (const { at, operations = [] } of looks)
    for (const { seen, ...operation } of operations) {
      const key = toOperationKey(operation)
      const known = byKey.get(key)
      // An answer in an older reading keeps its own time.
      const answer = seen && (at === newest.at ? seen : { at, ...seen })
      byKey.set(key, { ...operation, ...(answer && { seen: answer }), ...known })
    }
  return { ...newest, operations: [...byKey.values()].slice(0, MAX_OPERATIONS) }
}

type Tool = NonNullable<Interface['tools']>[number]

/** Catalogues may know different tools of a server; if a tool is in several, the richer parameters win. */
function uniteCatalogs(first: Interface, read: readonly Interface[]): Interface {
  const byName = new Map<string, Tool>()
  for (const tool of read.flatMap(({ tools = [] }) => tools)) {
    const other = byName.get(tool.name)
    const isRicher = other === undefined || richness(tool) > richness(other)
    byName.set(tool.name, isRicher ? { ...other, ...tool } : { ...tool, ...other })
  }
  const tools = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tool]) => tool)
  const at =
    read
      .map((each) => each.at)
      .sort()
      .at(-1) ?? first.at
  return { ...first, at, tools }
}

/** Orders tools by length, then by text, so that the same tool wins in any order of input. */
function richness(tool: Tool): string {
  const schema = JSON.stringify(tool.input_schema)
  return `${String(schema.length).padStart(8, '0')} ${JSON.stringify(tool)}`
}

/**
 * The notice for a listing that every source withdrew, and that only a file written by people may still
 * describe; null if a source still lists it.
 */
export function toWithdrawnNotice(rows: readonly NamedRow[]) {
  const gone = rows.filter(({ row }) => row.withdrawn !== undefined)
  const [last] = gone.toSorted((a, b) =>
    (a.row.withdrawn ?? '') < (b.row.withdrawn ?? '') ? 1 : -1,
  )
  const at = last?.row.withdrawn
  return last === undefined || at === undefined || gone.length < rows.length
    ? null
    : {
        id: 'withdrawn_at_source' as const,
        note: `${last.importer} no longer lists it.`,
        at,
      }
}

/** The words of the first source that advises against a listing. */
function toDeprecatedNotices(rows: readonly NamedRow[]) {
  const [first] = rows.flatMap(({ importer, row: { deprecated, added } }) =>
    deprecated === undefined ? [] : [{ importer, added, ...deprecated }],
  )
  if (first === undefined) return []
  const { importer, added = '1970-01-01', message, at = `${added}T00:00:00Z` } = first
  const words = message === undefined ? '.' : `: ${message}`
  return [{ id: 'deprecated' as const, note: `${importer} says that it is deprecated${words}`, at }]
}

type WrittenFiles = ReturnType<typeof readWritten>
