import type { CompiledListing, CompiledSite, ListingHistory } from '../../compiled.ts'
import { toCompareView } from '../../domain/compare/compare-view.ts'
import type { DerivedListing } from '../../domain/derived/derived-listing.ts'
import { toPolicyView } from '../../domain/derived/policy.ts'
import { toKitView } from '../../domain/kit/kit-view.ts'
import { toTaskSellers } from '../../domain/plans/task-seller.ts'
import { toTaskView } from '../../domain/plans/task-views.ts'
import { toHandshakesView } from '../../domain/probe/keep/handshakes-view.ts'
import type { LedgerPayment } from '../../domain/trust/ledger-payment.ts'
import type { TrustLedgerFacts } from '../../domain/trust/published-ledger.ts'
import { withoutListed } from '../../domain/unlisted/not-listed.ts'
import { toListingView } from '../../domain/views/listing-view.ts'
import { toMarketReportsView } from '../../domain/views/market-view.ts'
import {
  toBusinessModelView,
  toCategoriesView,
  toRoadmapView,
  toSourcesView,
} from '../../domain/views/reference-views.ts'
import { type DumpFacts, toStatsView } from '../../domain/views/stats-view.ts'
import { toTrustMethodView } from '../../domain/views/trust-method-view.ts'
import { toScoreParts } from '../../site/evidence/score-fall.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { renderDescription } from '../derive/render-description.ts'
import { findAllSimilar } from '../derive/similar-listings.ts'
import { lazy, noCache } from '../files/build-cache.ts'
import type { ReleaseWriter } from '../files/release-writer.ts'
import { createOpenApi } from '../openapi/create-openapi.ts'
import { toMarkSvg } from './mark-svg.ts'

/** Every view of the site that is not one listing's. */
export function toCompiledSite(
  catalogue: Catalogue,
  dump: DumpFacts,
  trustLedger: TrustLedgerFacts,
): CompiledSite {
  const { baseUrl, listings, tables, sources, byId, ledger } = catalogue
  const compare = { baseUrl, site: tables.site, sources, listings: byId, demand: ledger.demand }
  const worn = [...new Set(listings.flatMap(({ mark }) => mark ?? []))].sort()
  const sellers = listings.flatMap((listing) => toTaskSellers(listing, tables.tasks))
  return {
    base_url: baseUrl,
    stats: toStatsView(listings, dump, trustLedger, sources),
    categories: toCategoriesView(tables.categories, listings),
    sources: toSourcesView(tables.sources, listings),
    roadmap: toRoadmapView(tables.roadmap),
    business_model: toBusinessModelView(tables.site),
    market_reports: toMarketReportsView(listings, tables.market),
    trust_method: toTrustMethodView(tables, catalogue.measuredOperators),
    compare: catalogue.pages.map(({ slug, facts }) => toCompareView(slug, facts, compare)),
    gone: catalogue.gone,
    also_search: tables.alsoSearch,
    texts: tables.site,
    mark: catalogue.mark,
    marks: Object.fromEntries(worn.map((mark) => [mark, toMarkSvg(mark)])),
    not_listed: withoutListed(tables.notListed, listings),
    policies: tables.policies.map((policy) => toPolicyView(policy, listings)),
    tasks: tables.tasks,
    task_views: tables.tasks.map((row) => toTaskView(row, sellers)),
  }
}

/** @param cache of what builds before made of the same listings */
export function toCompiledListings(catalogue: Catalogue, cache = noCache()): CompiledListing[] {
  const similar = findAllSimilar(catalogue.listings, cache)
  return catalogue.listings.map((listing, place) =>
    toCompiledListing(listing, catalogue, {
      key: catalogue.keys[place] ?? '',
      similar: similar[place] ?? [],
    }),
  )
}

/** Writes what `src/compiled.ts` reads. */
export function writeCompiled(
  writer: ReleaseWriter,
  site: CompiledSite,
  listings: readonly CompiledListing[],
): void {
  writer.write(
    'listings.ndjson',
    listings.map((listing) => `${JSON.stringify(listing)}\n`).join(''),
  )
  writer.writeJson('site.json', site)
  writer.writeJson('openapi.json', createOpenApi(site.base_url, site.texts))
}

/** What few pages print is made when the first asks for it. */
function toCompiledListing(
  listing: DerivedListing,
  { baseUrl, sources, claimRules, said, paid }: Catalogue,
  { key, similar }: Pick<CompiledListing, 'key' | 'similar'>,
): CompiledListing {
  const { facts, buy, description } = listing
  const view = lazy(() => toListingView(listing, { baseUrl, sources, claimRules, said }))
  const kit = lazy(() => toKitView(listing, { baseUrl, trust: view().trust }))
  const html = lazy(() => renderDescription(description))
  return {
    key,
    id: listing.id,
    similar,
    added: facts.added,
    relay_reason: buy.reason,
    get view() {
      return view()
    },
    get kit() {
      return kit()
    },
    get description_html() {
      return html()
    },
    get handshakes() {
      return toHandshakesView(listing.probes)
    },
    get history() {
      return toHistory(listing, paid.get(listing.id) ?? [])
    },
    get score_parts() {
      return toScoreParts(listing.trust)
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
    // The source of the figures that are shown.
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
