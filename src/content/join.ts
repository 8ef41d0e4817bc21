import type { ListingFacts } from '../domain/listing/listing-facts.ts'
import type { Tombstone } from '../domain/listing/listing-states.ts'
import {
  joinEvidence,
  type Origins,
  toDeprecatedNotices,
  toOrigins,
  toWithdrawnNotice,
} from '../domain/sources/join-rows.ts'
import { placeRows } from '../domain/sources/place-rows.ts'
import { type NamedRow, orderRows, type SourceFile } from '../domain/sources/source-row.ts'
import { hasPrices, type PastPrices, splitPrices } from '../domain/trust/age.ts'
import type { Evidence } from '../domain/trust/evidence.ts'
import type { Stated } from '../domain/views/listing-view.ts'
import type { RowDays } from '../domain/views/reference-views.ts'
import { readMoves } from './check.ts'
import type { Fault } from './faults.ts'
import {
  joinListing,
  type ListingFile,
  type PartialListing,
  toLackFaults,
  type WrittenFile,
  type WrittenFiles,
} from './listing-file.ts'

export interface ContentParts extends Pick<WrittenFiles, 'written' | 'broken'> {
  /** By importer. */
  sources: ReadonlyMap<string, SourceFile>
  /** Ids of `tables/sources.yaml`, in its order. */
  order: readonly string[]
  /** Measurements of probes and others, by id. */
  measured: ReadonlyMap<string, Evidence>
  tombstones: ReadonlyMap<string, Tombstone>
  /** The build's day, such as 2026-11-26: older prices of catalogues leave; without it none does. */
  asOf?: string | undefined
}

export interface JoinedContent {
  /** Sorted by id. */
  listings: ListingFile[]
  broken: PartialListing[]
  faults: Fault[]
  evidence: Map<string, Evidence>
  /** Including those whose sources withdrew them. */
  tombstones: Map<string, Tombstone>
  /** Former content of listings that their sources withdrew, by id. */
  withdrawn: Map<string, ListingFacts>
  stated: Map<string, Stated[]>
  /** Prices of catalogues that are past their limit of age, by id. */
  pastPrices: Map<string, PastPrices>
  /** Days of the sources' rows, and of those with prices, by id. */
  rowDays: Map<string, RowDays>
  /** Rows by the id of their listing, each in the order of precedence. */
  taken: ReadonlyMap<string, readonly NamedRow[]>
  /** Rows without a listing, in the order of precedence. */
  waiting: NamedRow[]
}

/** Joins people, sources and evidence into listings; the same files give the same listings. */
export function joinContent(parts: ContentParts): JoinedContent {
  const { written, broken, sources, order, measured, tombstones, asOf } = parts
  const rows = orderRows(rowsOf(sources), order)
  const moves = readMoves(tombstones)
  const { taken, waiting } = placeRows([...written, ...broken], rows, { moves })
  const joined: JoinedContent = {
    listings: [],
    broken: [],
    faults: [],
    evidence: new Map(measured),
    tombstones: new Map(tombstones),
    withdrawn: new Map(),
    stated: new Map(),
    pastPrices: new Map(),
    rowDays: new Map(),
    taken,
    waiting,
  }
  for (const file of written)
    joinOne(joined, file, withoutOldPrices(joined, file, taken.get(file.id) ?? [], asOf))
  for (const partial of broken) {
    joined.broken.push(partial)
    for (const fault of toLackFaults(partial, taken.get(partial.id) ?? []))
      joined.faults.push(fault)
  }
  return joined
}

function joinOne(joined: JoinedContent, file: WrittenFile, rows: readonly NamedRow[]): void {
  const { id } = file
  const live = rows.filter(({ row }) => row.withdrawn === undefined)
  // Words without facts are not a listing: it goes when its last source does.
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

/** The rows of a listing without prices that are past their limit, and the days of what is left. */
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

/** Required facts known only from the last source stay: a withdrawal must not stop the build. */
function joinLasting(file: WrittenFile, live: readonly NamedRow[], rows: readonly NamedRow[]) {
  const joined = joinListing(file, live)
  return joined.listing === null && live.length === 0 ? joinListing(file, rows) : joined
}

/** Which facts of the listing come verbatim from a source, and when they were read, if known. */
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

/** Every row of every source. */
export function rowsOf(files: ReadonlyMap<string, SourceFile>): NamedRow[] {
  return [...files].flatMap(([importer, { rows }]) =>
    Object.entries(rows).map(([key, row]) => ({ importer, key, row })),
  )
}
