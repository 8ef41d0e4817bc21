import { hash } from 'node:crypto'
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { CompiledHead, CompiledListing, CompiledRest, ListingHistory } from '../compiled.ts'
import { renderBadgeSvg } from '../components/badges/badge-svg.ts'
import { toScoreParts } from '../components/evidence/score-fall.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { renderDescription } from '../derive/description.ts'
import { createSimilarFinder } from '../derive/similar.ts'
import type { ContentHash } from '../domain/changes/change-log.ts'
import { toCompareRow } from '../domain/compare/compare-view.ts'
import { toDeclaredRows } from '../domain/derived/declared-call.ts'
import type { DerivedListing } from '../domain/derived/derived-listing.ts'
import { toKitView } from '../domain/kit/kit-view.ts'
import type { LiveListing } from '../domain/listing/live-listing.ts'
import { toPriceText } from '../domain/operation/price-text.ts'
import { toTaskSellers } from '../domain/plans/task-seller.ts'
import { newestOutcome, toHandshakesView } from '../domain/probe/merge.ts'
import { planProbe } from '../domain/probe/plan.ts'
import { toArdRow } from '../domain/protocols/ard-entry.ts'
import { toResourceRows } from '../domain/protocols/discovery-resource.ts'
import { toRegistryRows } from '../domain/protocols/registry-entry.ts'
import { toTask } from '../domain/tasks/task.ts'
import type { LedgerPayment } from '../domain/trust/ledger-facts.ts'
import { toBadgeEndpoint, toBadgeView } from '../domain/views/badge-view.ts'
import { toKnownSentence } from '../domain/views/known-view.ts'
import { toListingBrief } from '../domain/views/listing-brief.ts'
import { toListingView } from '../domain/views/listing-view.ts'
import { badgeDataPath, badgePath, kitPath, listingPath, markPath } from '../domain/wire/links.ts'
import { ROUTES } from '../domain/wire/route-table.ts'
import type { Folder } from './folder.ts'
import type { Indexes } from './indexes.ts'
import { beginLines } from './lines.ts'
import { type SearchPage, toSearchPage } from './page-search.ts'

/** A listing with all that pages print of it, and the JSON of its view and its kit as they are served. */
interface Made {
  listing: DerivedListing
  catalogue: Catalogue
  compiled: CompiledListing
  view: string
}

/** A listing's rows in each file of `data` that holds all listings. */
const ROWS: Readonly<Record<string, (made: Made) => readonly unknown[]>> = {
  'listings.ndjson': ({ listing }) => [toLiveListing(listing)],
  'compare-rows.ndjson': ({ listing, catalogue }) => [toCompareRow(listing, catalogue.sources)],
  'ard-rows.ndjson': ({ listing }) => [toArdRow(listing)],
  'paid-resources.ndjson': ({ listing, catalogue }) => toResourceRows([listing], catalogue.baseUrl),
  'task-sellers.ndjson': ({ listing, catalogue }) => toTaskSellers(listing, catalogue.tables),
  'declared-calls.ndjson': ({ listing }) => toDeclaredRows(listing),
  'probe-plans.ndjson': ({ listing: { id, facts } }) => [planProbe(id, facts) ?? []].flat(),
  'content-hashes.ndjson': ({ compiled, view }) => [toContentHash(compiled, view)],
}

export interface ListingOutput {
  /** What the browser's search indexes, by listing: our own kits never stand among results. */
  searched: { id: string; row: Uint8Array }[]
  dump: ReturnType<ReturnType<typeof beginLines>['finish']>
}

/** Listings whose documents are sent to the index thread at once. */
const A_BATCH = 64

/** Writes all that is made of each listing by itself but its page, one listing after the other. */
export async function writeListingFiles(
  catalogue: Catalogue,
  { folder, indexes, compiledDir }: { folder: Folder; indexes: Indexes; compiledDir: string },
): Promise<ListingOutput> {
  const rows = Object.entries(ROWS).map(([file, toRows]) => ({
    toRows,
    ...beginRows(folder, file),
  }))
  const compiledRows = beginCompiled(compiledDir)
  const dump = beginLines(folder, {
    ndjson: ROUTES.listings_dump.path,
    gz: ROUTES.listings_dump_gz.path,
  })
  const searched: ListingOutput['searched'] = []
  const findSimilar = createSimilarFinder(catalogue.listings)
  for (const [place, listing] of catalogue.listings.entries()) {
    const key = catalogue.keys[place] ?? ''
    const compiled = toCompiled(listing, catalogue, { key, similar: findSimilar(listing) })
    const [view, kit] = [JSON.stringify(compiled.view), JSON.stringify(compiled.kit)]
    writeServed(folder, compiled, { view, kit, directory: catalogue.tables.site.short_name })
    for (const { toRows, add } of rows) add(toRows({ listing, catalogue, compiled, view }))
    compiledRows.add(compiled, { view, kit })
    dump.write(Buffer.from(`${view}\n`))
    indexes.add(listing)
    if (!listing.facts.first_party) {
      const page: SearchPage = toSearchPage(compiled)
      searched.push({ id: listing.id, row: Buffer.from(`${JSON.stringify(page)}\n`) })
    }
    if (place % A_BATCH === 0) await folder.room()
  }
  for (const { finish } of rows) finish()
  compiledRows.finish()
  writeOtherRows(folder, catalogue)
  return { searched, dump: dump.finish() }
}

/**
 * What is served of a listing. A bare address is a folder with `index.json` in it: ids contain dots
 * and one may end in `.json`, so `<id>.json` and `<id>/kit.json` could collide.
 */
function writeServed(
  folder: Folder,
  { id, view }: CompiledListing,
  json: { view: string; kit: string; directory: string },
): void {
  const badge = toBadgeView(view, json.directory)
  folder.write(`public${kitPath(id)}`, `${json.kit}\n`)
  folder.write(`public${listingPath(id)}/index.json`, `${json.view}\n`)
  folder.write(`public${badgePath(id)}`, renderBadgeSvg(badge, toKnownSentence(view.known)))
  folder.writeJson(`public${badgeDataPath(id)}`, toBadgeEndpoint(badge))
}

/** Rows of the functions that are not one listing's alone. */
function writeOtherRows(folder: Folder, catalogue: Catalogue): void {
  const { listings, goneServers, baseUrl, tables, optedOut, gone } = catalogue
  const servers = toRegistryRows(listings, goneServers, { baseUrl, policies: tables.policies })
  folder.write('data/mcp-servers.ndjson', toLines(servers))
  folder.write('data/opted-out.ndjson', toLines(optedOut))
  folder.write('data/tasks.ndjson', toLines(tables.tasks.flatMap((row) => toTask(row) ?? [])))
  folder.write('data/gone.ndjson', toLines(gone))
}

/** Rows of JSON, one per line. */
function toLines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/** Lines that are written at once (characters). */
const A_PART = 1 << 20

function beginRows(folder: Folder, name: string) {
  const file = folder.begin(`data/${name}`)
  let lines = ''
  const flush = () => {
    file.write(Buffer.from(lines))
    lines = ''
  }
  return {
    add(rows: readonly unknown[]): void {
      lines += toLines(rows)
      if (lines.length > A_PART) flush()
    },
    finish(): void {
      flush()
      file.finish()
    },
  }
}

/** What pages print of a listing. */
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
    kit: toKitView(listing, { baseUrl: catalogue.baseUrl, trust: view.trust }),
    description_html: renderDescription(listing.description),
    added: listing.facts.added,
    changed: toChanged(listing.facts.added, history),
    relay_reason: listing.buy.reason,
    handshakes: toHandshakesView(listing.probes),
    similar,
    history,
    score_parts: toScoreParts(listing.trust),
  }
}

/** Writes what `src/compiled.ts` reads: heads, and the rest of each where its head says. */
function beginCompiled(dir: string) {
  const file = openSync(join(dir, 'listings.ndjson'), 'w')
  const heads: string[] = []
  let at = 0
  return {
    add(compiled: CompiledListing, json: { view: string; kit: string }): void {
      const { key, id, brief, added, changed, relay_reason, similar, ...others } = compiled
      const { view: _, kit: __, ...rest } = others
      const members: Omit<CompiledRest, 'view' | 'kit'> = rest
      const made = JSON.stringify(members).slice(1)
      const bytes = Buffer.from(`{"view":${json.view},"kit":${json.kit},${made}\n`)
      const head: CompiledHead = {
        ...{ key, id, brief, added, changed, relay_reason, similar, at },
        length: bytes.length,
      }
      heads.push(JSON.stringify(head))
      at += writeSync(file, bytes)
    },
    finish(): void {
      closeSync(file)
      writeFileSync(join(dir, 'heads.ndjson'), heads.join('\n'))
    },
  }
}

function toHistory(
  { evidence, facts, trust }: DerivedListing,
  payments: readonly LedgerPayment[],
): ListingHistory {
  const { interface: seen, probes = [] } = evidence
  return {
    probes: probes.toSorted((a, b) => (a.at < b.at ? -1 : 1)),
    // The source of the displayed figures.
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

/** Hex digits of a hash: of a whole listing, and of one member, which is only a hint. */
const WHOLE = 32
const MEMBER = 12

/**
 * Hash of a listing's JSON, as it is served.
 *
 * @param line its JSON
 */
function toContentHash(listing: CompiledListing, line: string): ContentHash {
  const { view } = listing
  const facts = toFacts(listing)
  const digest = hash('sha256', `${line}${JSON.stringify(facts)}`).slice(0, WHOLE)
  return { id: view.id, hash: digest, fields: hashMembers(view), facts }
}

/** Facts that the log of changes describes in words. */
function toFacts({ view, kit, handshakes }: CompiledListing): Record<string, string> {
  const probe = handshakes?.recent.find(
    ({ outcome }) => outcome !== 'unknown' && outcome !== 'unprobeable',
  )
  const { score, evidence } = view.trust
  return {
    url: view.url,
    price: toPriceText(view.pricing),
    ...(probe !== undefined && { probe: probe.outcome }),
    trust: score === null ? evidence : String(score),
    payees: kit.payees.join(' '),
    digest: view.digest,
    ...Object.fromEntries(view.notices.map(({ id, note }) => [id, note])),
  }
}

function hashMembers(view: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(view).map(([name, value]) => [
      name,
      hash('sha256', JSON.stringify(value) ?? '').slice(0, MEMBER),
    ]),
  )
}
