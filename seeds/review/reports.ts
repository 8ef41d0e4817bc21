import * as v from 'valibot'
import { aboutOf, findReport, listWaiting, settleReport } from '../../functions/feeds/reports.ts'
import { createHttpClient, type Fetcher } from '../../functions/net/http-client.ts'
import { createResolver } from '../../functions/net/resolver.ts'
import type { Config } from '../../functions/ports/config.ts'
import { type FoundSeller, findSeller } from '../../functions/probes/find-seller.ts'
import { examineUrl } from '../../functions/probes/lint.ts'
import { signFromLedger } from '../../functions/probes/sign.ts'
import type { ReportTable, Store } from '../../functions/store/store.ts'
import type { Operation } from '../../src/domain/listing/listing-facts.ts'
import { listingIdOf } from '../../src/domain/listing/listing-text.ts'
import { pricingOf, toOffer } from '../../src/domain/listing/operation.ts'
import { NetworkSchema, type Pricing } from '../../src/domain/listing/pricing.ts'
import type { Finding, Sight } from '../../src/domain/probe/finding.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import { contentFileOf, receiptPath } from '../../src/domain/wire/links.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { KIND_LABELS } from '../../src/domain/wire/vocabulary.ts'
import { listingFileOf, readTables, withContent } from '../content/content-files.ts'
import { renderListing } from '../content/listing-text.ts'
import { type MapRules, mapReported, type Reported } from '../facts/map-rows.ts'
import { withPlainWords } from '../facts/seed-texts.ts'
import { mapCard } from '../sources/a2a.ts'
import {
  acceptFile,
  type Decision,
  type Question,
  type ReviewPlace,
  type ReviewSource,
  removeDrafts,
  settleEach,
} from './questions.ts'

/** Reports from anybody, as rows of the ledger. Only a reviewer probes or opens their addresses. */
export function createReportQueue(
  place: ReviewPlace,
  store: Store,
  now: () => string,
  createClient: () => Fetcher & AsyncDisposable,
): ReviewSource {
  return {
    kind: 'reports',
    list: async () => (await listWaiting(store)).map(toQuestion),
    async show({ id, file }) {
      const row = await rowOf(store, id)
      const lines = toLines(row)
      if (row.kind !== 'new' || row.url === null || file !== undefined)
        return { lines, draft: file }
      await using client = createClient()
      const found = await inspectService(row.url, client, now())
      if ('unreachable' in found)
        return { lines: [...lines, `it could not be reached: ${found.unreachable}`] }
      const tables = readTables(place.contentDir)
      const rules = { ...tables, allowPlaceholders: place.allowPrivate === true, now: now() }
      const { file: draft, remarks } = mapFound(found, row.text, rules)
      if (draft !== null) return { lines: [...lines, ...remarks], draft }
      return {
        lines: [...lines, 'its answers contain no facts for a listing file', ...remarks],
      }
    },
    settle: (questions, decision) =>
      settleEach(questions, (question) => settle({ place, store, now }, question, decision)),
    close: () => store.close(),
  }
}

async function settle(
  { place, store, now }: { place: ReviewPlace; store: Store; now: () => string },
  { id, file }: Question,
  decision: Decision,
): Promise<string[]> {
  const row = await rowOf(store, id)
  const isNewListing = row.kind === 'new' && decision.decision === 'accepted'
  if (isNewListing && file === undefined)
    throw new OperatorError(
      `the question has no draft yet: npm run review -- show ${id} makes one; or write review/${id}.<listing id>.md`,
    )
  const isWritten = isNewListing && file !== undefined
  const written = isWritten
    ? await withContent(place.contentDir, (writer) => acceptFile(place, writer, file))
    : []
  const settled = {
    ...{ state: decision.decision, reason: decision.reason },
    ...(isWritten && { listing_id: listingIdOf(file.path) }),
  }
  if (!(await settleReport(store, id, settled, Date.parse(now()))))
    throw new OperatorError('the report was already decided')
  if (file !== undefined)
    await withContent(place.contentDir, (writer) => removeDrafts(place, writer, id))
  return [...written, ...toOutcome(row, decision)]
}

/** The client that probes a stranger's address under the same rules as the page /sellers/check. */
export function createReviewClient(config: Config) {
  const resolver = createResolver(config.DNS_SERVERS)
  return createHttpClient('stranger', { config, resolver, sign: signFromLedger(config) })
}

async function rowOf(store: Store, id: string): Promise<ReportTable> {
  const row = await findReport(store, id)
  if (row === undefined) throw new OperatorError(`${id} no longer waits for a decision`)
  return row
}

function toQuestion(row: ReportTable): Question {
  return {
    id: row.id,
    at: new Date(row.created_at).toISOString(),
    why: row.receipt === null ? row.kind : 'disputed_verdict',
    from: 'reports',
    listing: row.listing_id ?? aboutOf(row),
    note: row.text,
  }
}

function toLines(row: ReportTable): string[] {
  const links = v.parse(v.array(v.string()), parseJson(row.links))
  return [
    ...(row.url === null ? [] : [`address: ${row.url}`]),
    ...(row.receipt === null ? [] : [`receipt: ${receiptPath(row.receipt)}`]),
    ...(row.kind === 'wrong' ? [`its file: ${contentFileOf(row.listing_id ?? '')}`] : []),
    ...links.map((link) => `link: ${link}`),
    ...(row.email === null ? [] : [`reply to: ${row.email}`]),
  ]
}

function toOutcome({ kind, listing_id, receipt }: ReportTable, { decision }: Decision): string[] {
  if (decision === 'refused')
    return [receipt === null ? "nothing changes; the report's page says why" : 'the verdict stays']
  if (kind === 'wrong')
    return [`change ${contentFileOf(listing_id ?? '')} by hand: nothing was written`]
  if (kind === 'new') return []
  return [
    receipt === null
      ? `${listing_id} shows the notice "disputed" from the next build on; no score changes`
      : `the verdict is no longer counted for ${listing_id} from the next build on; the log keeps it`,
  ]
}

/** A service's own facts. Foreign words stay as they came; code that prints them makes them inert. */
export interface FoundService {
  url: string
  kind: 'http_api' | 'mcp_server' | 'a2a_agent'
  at: string
  /** Facts from the handshake of the service's protocol. */
  sight: Pick<Sight, 'server' | 'tools' | 'terms'>
  /** Facts from the files at the service's origin. */
  seller: Pick<FoundSeller, 'files' | 'api' | 'card' | 'title'>
}

/**
 * Probes a reported address, for the reviewer and never for the reporter.
 * @returns facts or, in `unreachable`, why the host did not answer
 */
export async function inspectService(
  url: string,
  client: Fetcher,
  at: string,
): Promise<FoundService | { unreachable: string }> {
  const { chosen } = await examineUrl(url, undefined, client, Date.now)
  if (chosen.failure !== undefined) return { unreachable: chosen.saw }
  const seller = await findSeller(new URL(url).origin, client)
  return { url, kind: kindOf(chosen, seller), at, sight: chosen.sight ?? {}, seller }
}

function kindOf({ protocol, outcome }: Finding, seller: FoundSeller): FoundService['kind'] {
  const isThere = outcome === 'spoke' || outcome === 'gated'
  if (isThere && protocol === 'mcp') return 'mcp_server'
  if (isThere && protocol === 'a2a') return 'a2a_agent'
  return seller.card !== null && seller.api === null ? 'a2a_agent' : 'http_api'
}

/** Id in `tables/sources.yaml` for listings from reports. */
const PROPOSALS_SOURCE = 'proposals'

/** The most operations in a service's first file; all others are read once the service is listed. */
const MAX_OPERATIONS = 20

/**
 * The file that a service would become, by the same rules as importers' rows; null if nothing
 * readable was found and a person must write it. `remarks` are for the reviewer.
 */
export function mapFound(found: FoundService, note: string, rules: MapRules) {
  const { card, files } = found.seller
  const address = card?.cardUrl ?? files.agent_card ?? null
  const isAgent = found.kind === 'a2a_agent' && card !== null
  const { seed, refusal } = isAgent
    ? mapCard({ ...card, cardUrl: address }, rules, true)
    : mapReported(toReported(found, note), rules)
  const remarks =
    refusal === undefined
      ? []
      : [`an importer would refuse it: ${refusal.reason}: ${refusal.detail}`]
  if (seed === undefined) return { file: null, remarks }
  const text = renderListing(seed.facts, found.at.slice(0, 10))
  return { file: { path: listingFileOf(seed.id), text }, remarks }
}

function toReported(found: FoundService, note: string): Reported {
  const { url, kind, sight, seller } = found
  const { api, card, title, files } = seller
  const host = new URL(url).hostname.replace(/^www\./, '')
  const known = (sight.terms ?? []).filter(
    ({ network }) => network === null || v.is(NetworkSchema, network),
  )
  const pricing = pricingOf(known.flatMap(toOffer))
  const http = kind === 'http_api' ? toOperations(api, pricing) : []
  const paidOrNot = pricing.model === 'per_call' ? 'x402' : 'api'
  const prefixes = { http_api: paidOrNot, mcp_server: 'mcp', a2a_agent: 'a2a' } as const
  return {
    key: url,
    prefix: prefixes[kind],
    names: [sight.server?.name, api?.title, card?.name, title, host],
    stated: [api?.description, card?.description, note, toPlainSummary(found, host)],
    words: (sight.tools ?? []).map(({ name }) => name),
    facts: {
      kind,
      url,
      ...(pricing.model !== 'unknown' && { pricing }),
      ...(http.length > 0 && { http }),
      ...(kind === 'mcp_server' && {
        invoke: [{ kind: 'mcp' as const, transport: 'streamable-http' as const, url }],
      }),
      ...(Object.keys(files).length > 0 && { discovery: files }),
      sources: [{ source: PROPOSALS_SOURCE, ref: url }],
    },
  }
}

/** Our own words, for a seller that has none. */
function toPlainSummary({ kind, sight }: FoundService, host: string): string {
  const names = (sight.tools ?? []).slice(0, 5).map(({ name }) => name)
  const tail = kind === 'mcp_server' && names.length > 0 ? ` with ${names.join(', ')}` : ''
  return `${KIND_LABELS[kind]} at ${host}${tail}`
}

/** Drops a price that no rail in the 402 confirms. */
function toOperations(api: FoundService['seller']['api'], pricing: Pricing): Operation[] {
  const read = (api?.operations ?? []).slice(0, MAX_OPERATIONS)
  return withPlainWords(read).map(({ price, ...rest }) => {
    const isBorne =
      price !== undefined &&
      pricing.model === 'per_call' &&
      price.min_usd >= pricing.min_usd &&
      price.max_usd <= pricing.max_usd
    return isBorne ? { ...rest, price } : rest
  })
}
