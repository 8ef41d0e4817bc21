import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import {
  type CompiledHead,
  type CompiledListing,
  type CompiledRest,
  HEADS,
  type HomeFacts,
  type ListingHistory,
  RESTS,
} from '../compiled.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { renderDescription } from '../derive/description.ts'
import { createSimilarFinder } from '../derive/similar.ts'
import { toCompareRow } from '../domain/compare/compare-view.ts'
import { type DerivedListing, toDeclaredRows } from '../domain/derived/derived-listing.ts'
import { type OperationEntry, toOperationEntries } from '../domain/kit/found-operations.ts'
import { toKitView } from '../domain/kit/kit-view.ts'
import type { LiveListing } from '../domain/listing/listing-states.ts'
import { toPriceText } from '../domain/listing/pricing.ts'
import { type OfferOfTask, toTaskOffers } from '../domain/plans/task-offers.ts'
import { toTaskSellers } from '../domain/plans/task-plan.ts'
import { planProbe } from '../domain/probe/plan.ts'
import { toArdRow } from '../domain/protocols/cards.ts'
import { toRegistryRows, toResourceRows } from '../domain/protocols/registry-entry.ts'
import type { ContentHash } from '../domain/sellers/change-log.ts'
import { toTask } from '../domain/tasks/task.ts'
import { mostReported } from '../domain/trust/evidence.ts'
import type { LedgerPayment } from '../domain/trust/ledger-facts.ts'
import { renderBadgeSvg } from '../domain/views/badge-svg.ts'
import { newestOutcome, toKnownSentence } from '../domain/views/known-view.ts'
import {
  type ListingView,
  toBadgeEndpoint,
  toBadgeView,
  toListingBrief,
  toListingView,
} from '../domain/views/listing-view.ts'
import type { DumpFacts } from '../domain/views/reference-views.ts'
import { toScoreParts } from '../domain/views/trust-view.ts'
import { badgeDataPath, badgePath, kitPath, listingPath, markPath } from '../domain/wire/links.ts'
import { ROUTES } from '../domain/wire/routes.ts'
import type { Folder } from './folder.ts'
import { type beginIndexes, INDEXED, toIndexedListing } from './indexes.ts'
import { type beginPageSearch, toSearchPage } from './page-search.ts'
import { beginLines, beginRows, type RowMemory, writeNow } from './rows.ts'

const MEMORY = 'data/rows.json'

/** A listing with everything that pages print about it, and the JSON of its view and its kit as served. */
interface Made {
  listing: DerivedListing
  catalogue: Catalogue
  compiled: CompiledListing
  /** The JSON of each member of the view, then of the whole view. */
  members: readonly (readonly [name: string, json: string])[]
  view: string
  kit: string
  entries: readonly OperationEntry[]
}

/** Offers from all listings, for the task pages. */
const OFFERS = 'data/task-offers.ndjson'

/** A listing's rows in each file in `data` that covers all listings. */
const ROWS: Readonly<Record<string, (made: Made) => string>> = {
  'data/listings.ndjson': ({ listing }) => toLines([toLiveListing(listing)]),
  'data/compare-rows.ndjson': ({ listing, catalogue }) =>
    toLines([toCompareRow(listing, catalogue.sources)]),
  'data/ard-rows.ndjson': ({ listing }) => toLines([toArdRow(listing)]),
  'data/paid-resources.ndjson': ({ listing, catalogue }) =>
    toLines(toResourceRows([listing], catalogue.baseUrl)),
  'data/task-sellers.ndjson': ({ listing, catalogue }) =>
    toLines(toTaskSellers(listing, catalogue.tables)),
  'data/declared-calls.ndjson': ({ listing }) => toLines(toDeclaredRows(listing)),
  'data/probe-plans.ndjson': ({ listing: { id, facts } }) =>
    toLines([planProbe(id, facts) ?? []].flat()),
  'data/content-hashes.ndjson': (made) => toLines([toContentHash(made)]),
  [HEADS]: ({ compiled }) => toLines([toHead(compiled)]),
  [RESTS]: toRestLine,
  [OFFERS]: ({ listing, entries, catalogue: { tables, baseUrl } }) =>
    toLines(toTaskOffers(listing, entries, { tasks: tables.tasks, baseUrl })),
  [INDEXED]: ({ listing, entries, catalogue }) =>
    toLines([toIndexedListing(listing, entries, catalogue)]),
}

interface ListingTargets {
  folder: Folder
  indexes: Indexes
  /** Null if the build makes no pages. */
  pageSearch: PageSearch | null
}

/** After this many listings, the loop waits if the writers are behind. */
const A_BATCH = 64

/**
 * Writes all files that are made from a single listing, except its page, one listing after another.
 * Files that the previous release made from the same inputs are copied from there.
 */
export async function writeListingFiles(
  catalogue: Catalogue,
  { folder, indexes, pageSearch }: ListingTargets,
): Promise<{ dump: DumpFacts; offers: OfferOfTask[] }> {
  const memory = readRowMemory(folder)
  const lengthsOf = (path: string) => memory?.lengths[path]
  const rows = Object.entries(ROWS).map(([path, toRows]) => ({
    ...{ path, toRows },
    file: beginRows(folder, path, lengthsOf(path), path === INDEXED ? indexes.add : undefined),
  }))
  const dump = beginLines(folder, DUMP, { lengths: lengthsOf(DUMP_FILE), parts: memory?.parts })
  const listed: RowMemory['listings'] = []
  const write = (made: Made) => {
    writeServed(folder, made)
    for (const { toRows, file } of rows) file.add(toRows(made))
    dump.add(`${made.view}\n`)
  }
  const keep = (id: string, place: number) => {
    for (const path of toServedPaths(id)) folder.keep(path)
    for (const { file } of rows) file.keep(place)
    dump.keep(place)
  }
  for (const { listing, place, names, make } of planListings(catalogue, memory)) {
    listed.push(names)
    const compiled = place === null ? make() : null
    if (pageSearch?.needs(listing) === true) {
      pageSearch.add(listing.id, toSearchPage(compiled ?? toShown(listing, catalogue)))
    }
    if (compiled !== null) write(toMade(listing, catalogue, compiled))
    else if (place !== null) keep(listing.id, place)
    for (const { file } of rows) file.cutWhereLong()
    if (endsPart(listing.id)) dump.cut()
    if (listed.length % A_BATCH === 0) await folder.room()
  }
  const { files, lengths, parts } = dump.finish()
  const ended = rows.map(({ path, file }) => [path, file.finish().lengths] as const)
  writeRowMemory(folder, {
    listings: listed,
    lengths: { ...Object.fromEntries(ended), [DUMP_FILE]: lengths },
    parts,
  })
  writeOtherRows(folder, catalogue)
  return { dump: files, offers: readOffers(folder) }
}

function readOffers({ root }: Folder): OfferOfTask[] {
  const rows = readFileSync(join(root, OFFERS), 'utf8').split('\n').slice(0, -1)
  // JSON.parse returns `any`; the rows were written from this very type.
  return rows.map((row) => JSON.parse(row))
}

interface Planned {
  listing: DerivedListing
  /** The listing's place among the previous release's rows, if unchanged; else null. */
  place: number | null
  /** The id and digests by which the next build recognises the listing. */
  names: RowMemory['listings'][number]
  make(): CompiledListing
}

function* planListings(catalogue: Catalogue, memory: RowMemory | null): Generator<Planned> {
  const places = new Map(memory?.listings.map(([id], place) => [id, place]))
  const findSimilar = createSimilarFinder(catalogue.listings)
  for (const [at, listing] of catalogue.listings.entries()) {
    const { id } = listing
    const key = catalogue.keys[at] ?? ''
    const place = places.get(id) ?? -1
    const [, keyBefore, similarBefore] = memory?.listings[place] ?? []
    const similar = findSimilar(listing)
    const digest = hash('sha256', similar.join(' ')).slice(0, SIMILAR)
    yield {
      listing,
      place: keyBefore === key && similarBefore === digest ? place : null,
      names: [id, key, digest],
      make: () => toCompiled(listing, catalogue, { key, similar }),
    }
  }
}

function toShown(listing: DerivedListing, catalogue: Catalogue) {
  const { description } = listing
  return {
    view: toListingView(listing, catalogue),
    description_html: renderDescription(description),
  }
}

function toMade(listing: DerivedListing, catalogue: Catalogue, compiled: CompiledListing): Made {
  const members = Object.entries(compiled.view).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, JSON.stringify(value)] as const],
  )
  return {
    ...{ listing, catalogue, compiled, members },
    view: `{${members.map(([name, json]) => `"${name}":${json}`).join(',')}}`,
    kit: JSON.stringify(compiled.kit),
    entries: toOperationEntries(listing, catalogue.baseUrl),
  }
}

const DUMP = { ndjson: ROUTES.listings_dump.path, gz: ROUTES.listings_dump_gz.path }
const DUMP_FILE = `public${DUMP.ndjson}`

/** True for one id in 64, chosen by hash: where a part of the dump ends does not depend on the listings before. */
function endsPart(id: string): boolean {
  return hash('sha256', id) < '04'
}

/**
 * Writes what is served for a listing. An address without an extension is a folder with `index.json` in it: ids contain
 * dots and may end in `.json`, so `<id>.json` and `<id>/kit.json` could collide.
 */
function writeServed(folder: Folder, { compiled, catalogue, ...json }: Made): void {
  const { id, view } = compiled
  const { short_name, mark } = catalogue.tables.site
  const badge = toBadgeView(view, short_name)
  const [kitFile, viewFile, badgeFile, badgeDataFile] = toServedPaths(id)
  folder.write(kitFile, `${json.kit}\n`)
  folder.write(viewFile, `${json.view}\n`)
  folder.write(badgeFile, renderBadgeSvg(badge, toKnownSentence(view.known), mark === undefined))
  folder.writeJson(badgeDataFile, toBadgeEndpoint(badge))
}

function toServedPaths(id: string) {
  return [
    `public${kitPath(id)}`,
    `public${listingPath(id)}/index.json`,
    `public${badgePath(id)}`,
    `public${badgeDataPath(id)}`,
  ] as const
}

/** Rows that the functions read and that are not written listing by listing. */
function writeOtherRows(folder: Folder, catalogue: Catalogue): void {
  const { listings, goneServers, baseUrl, tables, optedOut, gone } = catalogue
  const servers = toRegistryRows(listings, goneServers, { baseUrl, policies: tables.policies })
  folder.write('data/mcp-servers.ndjson', toLines(servers))
  folder.write('data/opted-out.ndjson', toLines(optedOut))
  folder.write('data/tasks.ndjson', toLines(tables.tasks.flatMap((row) => toTask(row) ?? [])))
  folder.write('data/gone.ndjson', toLines(gone))
}

/** Rows as JSON, one per line. */
function toLines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/** What pages print about a listing. */
export function toCompiled(
  listing: DerivedListing,
  catalogue: Catalogue,
  { key, similar }: Pick<CompiledListing, 'key' | 'similar'>,
): CompiledListing {
  const view = toListingView(listing, catalogue)
  const history = toHistory(listing, catalogue.paid.get(listing.id) ?? [])
  return {
    key,
    id: listing.id,
    view,
    brief: toListingBrief(listing, catalogue.sources),
    home: toHomeFacts(view, history),
    kit: toKitView(listing, { baseUrl: catalogue.baseUrl, trust: view.trust }),
    description_html: renderDescription(listing.description),
    added: listing.facts.added,
    changed: toChanged(listing.facts.added, history),
    relay_reason: listing.buy.reason,
    similar,
    history,
    score_parts: toScoreParts(listing.trust),
  }
}

/** Computed when a listing is compiled; otherwise the home page would have to read every listing in full. */
export function toHomeFacts(
  { reported_use, known: { answers } }: ListingView,
  { drift }: CompiledListing['history'],
): HomeFacts {
  const own = reported_use?.filter(({ shared_with }) => shared_with === undefined)
  const counts = [
    // The counts in the listing's own row come first.
    mostReported('settlements', own) ?? mostReported('calls', own),
    ...USES.map((what) => mostReported(what, reported_use)),
  ]
  const first = counts.findIndex((value = 0) => value > 0)
  return {
    used: first < 0 ? [0, 0] : [counts.length - first, counts[first] ?? 0],
    answered: answers?.known === true ? (answers.as_of ?? '') : null,
    drift: drift.slice(0, MAX_SHOWN_CHANGES),
  }
}

const USES = ['settlements', 'payers', 'downloads', 'stars'] as const
/** How many changes to one listing lists of all listings can show. */
const MAX_SHOWN_CHANGES = 10

/** The part of a listing that pages need to show it in a list. */
function toHead(compiled: CompiledListing): CompiledHead {
  const { key, id, brief, home, added, changed, relay_reason, similar } = compiled
  return { key, id, brief, home, added, changed, relay_reason, similar }
}

function toRestLine({ compiled, kit }: Made): string {
  const { description_html, history, score_parts } = compiled
  const rest: Omit<CompiledRest, 'kit'> = { description_html, history, score_parts }
  return `{"kit":${kit},${JSON.stringify(rest).slice(1)}\n`
}

function toHistory(
  { evidence, facts, trust }: DerivedListing,
  payments: readonly LedgerPayment[],
): ListingHistory {
  const { interface: seen, probes = [] } = evidence
  return {
    probes: probes.toSorted((a, b) => (a.at < b.at ? -1 : 1)),
    drift: evidence.drift ?? [],
    payments,
    days: trust.evidence === 'no_payment_data' ? [] : (trust.measured.days ?? []),
    seen:
      seen === undefined
        ? null
        : {
            at: seen.at,
            from: seen.from,
            is_sellers_text:
              [...facts.http, ...(facts.tools ?? []), ...(facts.skills ?? [])].length === 0,
            ...(seen.server !== undefined && { server: seen.server }),
            ...(seen.truncated !== undefined && { truncated: seen.truncated }),
          },
  }
}

function toChanged(added: string, { seen, drift }: ListingHistory): string {
  const days = [seen?.at, drift[0]?.at].map((at) => at?.slice(0, 10) ?? '')
  return [added, ...days].reduce((one, other) => (one > other ? one : other))
}

export function toLiveListing(listing: DerivedListing): LiveListing {
  const { id, facts, mark, status, buy, surface, payouts, digest, notices } = listing
  const probe = newestOutcome(listing.probes)
  const declared = toDeclaredRows(listing)
  return {
    id,
    name: facts.name,
    digest,
    kind: facts.kind,
    url: facts.url,
    status,
    first_party: facts.first_party,
    ...(mark !== null && { mark: markPath(mark) }),
    buy: buy.buy,
    not_relayable_reason: buy.reason,
    methods: [...new Set(surface.operations.map(({ method }) => method))],
    pricing: facts.pricing,
    ...(probe !== undefined && { probe }),
    ...(notices.some(({ id }) => id === 'disputed') && { disputed: true }),
    payout: [...payouts.owned],
    ...(payouts.contested.length > 0 && { payout_contested: [...payouts.contested] }),
    ...(declared.length > 0 && {
      declared: declared.map(({ method, url, digest }) => ({ method, url, digest })),
    }),
  }
}

/** Number of hex digits in a hash: of a whole listing, and of the ids of similar listings. */
const [WHOLE, SIMILAR] = [32, 12]

/** Digests of a listing's JSON as served, and of each member; the latter only hint at what changed. */
function toContentHash({ listing, compiled, members, view }: Made): ContentHash {
  const facts = toFacts(listing, compiled)
  const digest = hash('sha256', `${view}${JSON.stringify(facts)}`).slice(0, WHOLE)
  const fields = members.map(([name, json]) => [name, crc32(json).toString(16)])
  return { id: compiled.id, hash: digest, fields: Object.fromEntries(fields), facts }
}

/** Facts that the change log describes in words. */
function toFacts(
  { probes }: DerivedListing,
  { view, kit }: CompiledListing,
): Record<string, string> {
  const probe = newestOutcome(probes)
  const { score, evidence } = view.trust
  return {
    url: view.url,
    price: toPriceText(view.pricing),
    ...(probe !== undefined && { probe }),
    trust: score === null ? evidence : String(score),
    payees: kit.payees.join(' '),
    digest: view.digest,
    ...Object.fromEntries(view.notices.map(({ id, note }) => [id, note])),
  }
}

/** The previous release's row memory, if code and tables are the same. */
function readRowMemory({ former }: Pick<Folder, 'former'>): RowMemory | null {
  // JSON.parse returns `any`; the file was written from this very type, and has a checksum.
  return former === null ? null : JSON.parse(readFileSync(join(former, MEMORY), 'utf8'))
}

function writeRowMemory(folder: Folder, memory: RowMemory): void {
  writeNow(folder, MEMORY, JSON.stringify(memory))
}

type Indexes = ReturnType<typeof beginIndexes>

type PageSearch = ReturnType<typeof beginPageSearch>
