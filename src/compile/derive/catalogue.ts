import { type DerivedListing, deriveListing } from '../../domain/derived/derived-listing.ts'
import type { SourceRow } from '../../domain/derived/source-table.ts'
import type { Tables } from '../../domain/derived/tables.ts'
import { normalizePayout } from '../../domain/listing/payout.ts'
import type { UrlRules } from '../../domain/listing/target-url.ts'
import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'
import type { ComparePage } from '../content/read-compare.ts'
import type { Content } from '../content/read-content.ts'
import type { ListingFile } from '../content/read-listings.ts'

/** The content with everything that follows from it; what every output is written from. */
export interface Catalogue {
  baseUrl: string
  /** Sorted by id. */
  listings: DerivedListing[]
  byId: ReadonlyMap<string, DerivedListing>
  pages: ComparePage[]
  tables: Tables
  sources: ReadonlyMap<string, SourceRow>
  ledger: LedgerFacts
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
  const files = content.listings.filter(({ id }) => !ledger.optedOut.has(id))
  const sharers = countSharers(files)
  const listings = files.map(({ id, facts, description }) =>
    deriveListing(
      {
        id,
        facts,
        description,
        evidence: content.evidence.get(id) ?? {},
        ownMeasured: ledger.settlements.get(id),
        isClaimed: ledger.claimed.has(id),
        sharers: Math.max(
          1,
          ...facts.payout.map((payout) => sharers.get(normalizePayout(payout)) ?? 1),
        ),
      },
      { rules, baseUrl },
    ),
  )
  return {
    baseUrl,
    listings,
    byId: new Map(listings.map((listing) => [listing.id, listing])),
    pages: content.pages,
    tables,
    sources: new Map(tables.sources.map((row) => [row.id, row])),
    ledger,
  }
}

/** Sharers of a payout are the listings that publish it. */
function countSharers(listings: readonly ListingFile[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { facts } of listings)
    for (const payout of new Set(facts.payout.map(normalizePayout)))
      counts.set(payout, (counts.get(payout) ?? 0) + 1)
  return counts
}

/** Our own rows may point at this directory itself. */
function placeTables(tables: Tables, baseUrl: string): Tables {
  const sources = tables.sources.map((row) => ({
    ...row,
    url: row.url.replace('{base_url}', baseUrl),
  }))
  return { ...tables, sources }
}
