import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createOpenApi } from '../../build/openapi/create-openapi.ts'
import type { CompiledListing, CompiledSite, ListingHistory, ScorePart } from '../../compiled.ts'
import type { Catalogue } from '../../derive/catalogue.ts'
import { renderDescription } from '../../derive/description.ts'
import { createSimilarFinder } from '../../derive/similar.ts'
import { toCompareView } from '../../domain/compare/compare-view.ts'
import type { DerivedListing } from '../../domain/derived/derived-listing.ts'
import { toPolicyView } from '../../domain/derived/policy.ts'
import { type KitView, toKitView } from '../../domain/kit/kit-view.ts'
import { toTaskSellers } from '../../domain/plans/task-seller.ts'
import { toTaskView } from '../../domain/plans/task-views.ts'
import { type HandshakesView, toHandshakesView } from '../../domain/probe/merge.ts'
import type { LedgerPayment } from '../../domain/trust/ledger-payment.ts'
import type { TrustLedgerFacts } from '../../domain/trust/published-ledger.ts'
import { withoutListed } from '../../domain/unlisted/not-listed.ts'
import { type ListingBrief, toListingBrief } from '../../domain/views/listing-brief.ts'
import { type ListingView, toListingView } from '../../domain/views/listing-view.ts'
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
import type { ReleaseWriter } from '../files/release-writer.ts'

/** Every view of the site except those of single listings. */
export function toCompiledSite(
  catalogue: Catalogue,
  dump: DumpFacts,
  trustLedger: TrustLedgerFacts,
): CompiledSite {
  const { baseUrl, listings, tables, sources, byId, ledger } = catalogue
  const compare = { baseUrl, site: tables.site, sources, listings: byId, demand: ledger.demand }
  const worn = [...new Set(listings.flatMap(({ mark }) => mark ?? []))].sort()
  const sellers = listings.flatMap((listing) => toTaskSellers(listing, tables))
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

export function toCompiledListings(catalogue: Catalogue): LazyListing[] {
  const similar = catalogue.listings.map(createSimilarFinder(catalogue.listings))
  return catalogue.listings.map(
    (listing, place) =>
      new LazyListing(listing, catalogue, catalogue.keys[place] ?? '', similar[place] ?? []),
  )
}

/** Writes the files that `src/compiled.ts` reads. */
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

/** Listings that hold what was made of them: of all at once, 100,000 would take gigabytes. */
const MOST_HELD = 500
const held = new Set<LazyListing>()

function hold(listing: LazyListing): void {
  if (held.has(listing)) return
  held.add(listing)
  const [oldest] = held
  if (held.size <= MOST_HELD || oldest === undefined) return
  held.delete(oldest)
  oldest.forget()
}

/** Rarely used members are made on demand. A class: as closures 15,000 of them took 28 MiB more. */
export class LazyListing implements CompiledListing {
  readonly key: string
  readonly similar: string[]
  readonly id: string
  readonly added: string
  readonly relay_reason: string | null
  readonly derived: DerivedListing
  readonly #catalogue: Catalogue
  #view: ListingView | undefined
  #kit: KitView | undefined
  #html: string | undefined
  #brief: ListingBrief | undefined

  constructor(listing: DerivedListing, catalogue: Catalogue, key: string, similar: string[]) {
    this.derived = listing
    this.#catalogue = catalogue
    this.key = key
    this.similar = similar
    this.id = listing.id
    this.added = listing.facts.added
    this.relay_reason = listing.buy.reason
  }

  get view(): ListingView {
    hold(this)
    this.#view ??= toListingView(this.derived, this.#catalogue)
    return this.#view
  }

  get brief(): ListingBrief {
    this.#brief ??= toListingBrief(this.derived)
    return this.#brief
  }

  get tasks(): string[] {
    return this.derived.surface.operations.flatMap(({ task }) => task ?? [])
  }

  /** What is asked for again is made again. */
  forget(): void {
    this.#view = undefined
    this.#kit = undefined
    this.#html = undefined
  }

  get kit(): KitView {
    hold(this)
    const { baseUrl } = this.#catalogue
    this.#kit ??= toKitView(this.derived, { baseUrl, trust: this.view.trust })
    return this.#kit
  }

  get description_html(): string {
    hold(this)
    this.#html ??= renderDescription(this.derived.description)
    return this.#html
  }

  get handshakes(): HandshakesView | null {
    return toHandshakesView(this.derived.probes)
  }

  get history(): ListingHistory {
    return toHistory(this.derived, this.#catalogue.paid.get(this.id) ?? [])
  }

  get score_parts(): ScorePart[] {
    return toScoreParts(this.derived.trust)
  }

  /** JSON leaves out getters of a class. */
  toJSON(): CompiledListing {
    const { key, id, view, brief, tasks, kit, description_html, added, relay_reason } = this
    const { handshakes, similar, history, score_parts } = this
    return {
      ...{ key, id, view, brief, tasks, kit, description_html, added, relay_reason },
      ...{ handshakes, similar, history, score_parts },
    }
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

const PATH = /<path d="([^"]+)"\/>/
const require = createRequire(import.meta.url)

/**
 * A brand's mark as simple-icons draws it, on a square of 24. Its path has the id `m`, so that a page
 * draws it with `<use>` in the colour of its text.
 *
 * @throws when simple-icons has no such mark
 */
export function toMarkSvg(mark: string): string {
  const path = PATH.exec(readIcon(mark))?.[1]
  if (path === undefined)
    throw new Error(`tables/marks.yaml: expected an id of simple-icons, got ${mark}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path id="m" d="${path}"/></svg>`
}

function readIcon(mark: string): string {
  try {
    return readFileSync(require.resolve(`simple-icons/icons/${mark}.svg`), 'utf8')
  } catch {
    return ''
  }
}
