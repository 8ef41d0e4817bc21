import { type DerivedListing, deriveListing } from '../../domain/derived/derived-listing.ts'
import type { SourceRow } from '../../domain/derived/source-table.ts'
import type { Tables } from '../../domain/derived/tables.ts'
import type { Gone, Tombstone } from '../../domain/derived/tombstone.ts'
import { toDisputeNotice } from '../../domain/disputes/dispute.ts'
import type { GoneServer } from '../../domain/doors/registry-entry.ts'
import type { OptedOutListing } from '../../domain/listing/live-listing.ts'
import { BASE_URL_PLACEHOLDER, type UrlRules } from '../../domain/listing/target-url.ts'
import { judgePayouts, NO_PAYOUTS } from '../../domain/owners/payout-standing.ts'
import { combineEvidence } from '../../domain/probe/keep/merge-finding.ts'
import type { Evidence } from '../../domain/trust/evidence.ts'
import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'
import type { Content } from '../content/read-content.ts'
import type { ListingFile } from '../content/read-listings.ts'
import { createListingParser } from '../content/read-listings.ts'
import type { ComparePage } from '../content/read-tables.ts'
import { judgeSales } from './own-evidence.ts'
import {
  hostAt,
  isOptedOut,
  readPayoutFacts,
  toPayoutNotices,
  toRotatingNotice,
} from './payout-standings.ts'

/** The content with everything that follows from it; what every output is written from. */
export interface Catalogue {
  baseUrl: string
  /** Sorted by id. */
  listings: DerivedListing[]
  /** Operators known to be independent whose payments are measured. */
  measuredOperators: number
  byId: ReadonlyMap<string, DerivedListing>
  /** Listings whose seller asked for removal: only sellers' routes still know them. */
  optedOut: OptedOutListing[]
  pages: ComparePage[]
  tables: Tables
  mark: string | null
  sources: ReadonlyMap<string, SourceRow>
  ledger: LedgerFacts
  /** Sorted by id. */
  gone: Gone[]
  /** MCP servers among them, as far as we remember them. */
  goneServers: GoneServer[]
}

export interface CatalogueOptions {
  baseUrl: string
  rules: UrlRules
  ledger: LedgerFacts
}

export function createCatalogue(
  content: Content,
  { baseUrl, rules, ledger }: CatalogueOptions,
): Catalogue {
  const tables = placeTables(content.tables, baseUrl)
  const files = content.listings.filter((file) => !isOptedOut(file, ledger, baseUrl))
  const payouts = readPayoutFacts(content, ledger, baseUrl)
  const standings = judgePayouts(payouts)
  const categories = new Map(files.map(({ id, facts }) => [id, facts.categories]))
  const judged = judgeSales(ledger, {
    payouts,
    standings,
    categoriesOf: (id) => categories.get(id) ?? [],
    seeds: new Set(tables.independentOperators.map(({ domain }) => domain)),
  })
  const listings = files.map((file) => {
    const { id, facts, description } = file
    const rotating = ledger.rotating.get(id)
    const evidence = withoutPayoutChange(
      combineEvidence(content.evidence.get(id) ?? {}, ledger.probed.get(id)),
      rotating !== undefined,
    )
    const standing = standings.get(id) ?? NO_PAYOUTS
    return deriveListing(
      {
        id,
        facts,
        description,
        evidence,
        ownMeasured: judged.evidence.get(id),
        isMetered: ledger.metered.has(id),
        isClaimed: ledger.claimed.get(id) === hostAt(file, baseUrl),
        notices: [
          ...toPayoutNotices(file, evidence, standing),
          ...toRotatingNotice(rotating),
          ...toDisputeNotice(ledger.disputes.get(id) ?? []),
        ],
        payouts: standing,
      },
      { rules, baseUrl, directory: tables.site.short_name },
    )
  })
  const optedOut = content.listings.filter((file) => isOptedOut(file, ledger, baseUrl))
  const gone = toGone(content, optedOut)
  return {
    baseUrl,
    listings,
    optedOut: optedOut.map(({ id, facts }) => ({
      id,
      url: facts.url.replace(BASE_URL_PLACEHOLDER, baseUrl),
    })),
    measuredOperators: judged.measuredOperators,
    byId: new Map(listings.map((listing) => [listing.id, listing])),
    pages: content.pages,
    tables,
    mark: content.mark,
    sources: new Map(tables.sources.map((row) => [row.id, row])),
    ledger,
    gone,
    goneServers: readGoneServers(gone, content.tombstones, optedOut, rules),
  }
}

/** Who names another address each time has not changed it. */
function withoutPayoutChange(evidence: Evidence, isRotating: boolean): Evidence {
  if (!isRotating || evidence.notices === undefined) return evidence
  return { ...evidence, notices: evidence.notices.filter(({ id }) => id !== 'payout_changed') }
}

/** What is gone by its tombstone, and what owners took out themselves. */
function toGone({ tombstones }: Content, optedOut: readonly ListingFile[]): Gone[] {
  const buried = [...tombstones.values()].map(({ id, at, reason, replaced_by }) => ({
    id,
    at,
    reason,
    ...(replaced_by === undefined ? {} : { replaced_by }),
  }))
  const out = optedOut.map(({ id }) => ({ id, at: null, reason: 'opted_out' as const }))
  return [...buried, ...out].sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Our own rows may point at this directory itself. */
function placeTables(tables: Tables, baseUrl: string): Tables {
  const sources = tables.sources.map((row) => ({
    ...row,
    url: row.url.replace('{base_url}', baseUrl),
  }))
  return { ...tables, sources }
}

/**
 * MCP servers that left: a registry's readers delete what they copied when they are told its name.
 * A tombstone keeps the file as it was; where it doesn't, or rules have changed since, the id is
 * all we know.
 */
function readGoneServers(
  gone: readonly Gone[],
  tombstones: ReadonlyMap<string, Tombstone>,
  optedOut: readonly ListingFile[],
  rules: UrlRules,
): GoneServer[] {
  const parse = createListingParser(rules)
  const former = new Map(optedOut.map(({ id, facts }) => [id, facts]))
  return gone
    .filter(({ id }) => id.startsWith('mcp.'))
    .map((each) => {
      const { id } = each
      const text = tombstones.get(id)?.listing
      const buried = text === undefined ? undefined : parse({ id, file: id }, text).listing?.facts
      return { ...each, facts: former.get(id) ?? buried }
    })
}
