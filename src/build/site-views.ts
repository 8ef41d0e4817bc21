import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { CompiledSite } from '../compiled.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { toCompareView } from '../domain/compare/compare-view.ts'
import type { ReleaseFile, SearchChoices } from '../domain/derived/tables.ts'
import { type OfferOfTask, toTaskPages } from '../domain/plans/task-plan.ts'
import { toPolicyView } from '../domain/protocols/registry-entry.ts'
import { toOtherHosts, withoutListed } from '../domain/sellers/not-listed.ts'
import type { TrustLedgerFacts } from '../domain/trust/ledger-facts.ts'
import {
  type CategoriesView,
  type DumpFacts,
  type SourcesView,
  type StatsView,
  toBusinessModelView,
  toCategoriesView,
  toMarketReportsView,
  toRoadmapView,
  toSourcesView,
  toStatsView,
} from '../domain/views/reference-views.ts'
import { toTrustMethodView } from '../domain/views/trust-view.ts'

/** Every view of the site except those of single listings. */
export function toCompiledSite(
  catalogue: Catalogue,
  { dump, trust, offers }: { dump: DumpFacts; trust: TrustLedgerFacts; offers: OfferOfTask[] },
): CompiledSite {
  const { baseUrl, listings, tables, sources, byId, ledger } = catalogue
  const compare = { baseUrl, site: tables.site, sources, listings: byId, demand: ledger.demand }
  const task_pages = toTaskPages(tables.tasks, offers)
  const empty = [
    ...(task_pages.some(({ sellers }) => sellers > 0) ? [] : ['/tasks']),
    ...(catalogue.pages.length > 0 ? [] : ['/compare']),
  ]
  const worn = [...new Set(listings.flatMap(({ mark }) => mark ?? []))].sort()
  return {
    base_url: baseUrl,
    stats: toStatsView(listings, dump, trust, catalogue),
    categories: toCategoriesView(tables.categories, listings),
    sources: toSourcesView(tables.sources, listings),
    roadmap: toRoadmapView(tables.roadmap),
    business_model: toBusinessModelView(tables.site),
    market_reports: toMarketReportsView(listings, tables.market),
    trust_method: toTrustMethodView(tables, catalogue.measuredOperators),
    compare: catalogue.pages.map(({ slug, facts }) => toCompareView(slug, facts, compare)),
    gone: catalogue.gone,
    also_search: tables.alsoSearch,
    texts: { ...tables.site, empty },
    mark: catalogue.mark,
    marks: Object.fromEntries(worn.map((mark) => [mark, toMarkSvg(mark)])),
    not_listed: withoutListed(tables.notListed, listings),
    policies: tables.policies.map((policy) => toPolicyView(policy, listings)),
    tasks: tables.tasks,
    task_pages,
  }
}

/** Facts about the release itself. */
export function toReleaseFile(
  { baseUrl, tables, listings }: Catalogue,
  site: CompiledSite,
  digest: string,
): Omit<ReleaseFile, 'checksums' | 'files'> {
  return {
    digest,
    base_url: baseUrl,
    shared_hosts: tables.sharedHosts,
    texts: site.texts,
    also_search: tables.alsoSearch,
    not_listed: site.not_listed,
    other_hosts: toOtherHosts(listings),
    search_choices: toSearchChoices(site.stats, site.categories, site.sources),
    tasks: site.task_pages.map(({ id, name, page, sellers, min_usd }) => ({
      ...{ id, name, page, sellers, min_usd },
    })),
  }
}

/** The filter values of the search page: every category, and the sources that have listings. */
function toSearchChoices(
  { listings, newest, median }: StatsView,
  { categories }: CategoriesView,
  { sources }: SourcesView,
): SearchChoices {
  const toChoice = ({ id, name, listings }: SearchChoices['sources'][number]) => ({
    id,
    name,
    listings,
  })
  return {
    kinds: listings.by_kind,
    rails: listings.by_rail,
    categories: categories.map(toChoice),
    sources: sources.filter(({ listings }) => listings > 0).map(toChoice),
    ages: { newest, median },
  }
}

const PATH = /<path d="([^"]+)"\/>/
/** Looking a file up in the package takes as long as reading it. */
const ICONS = dirname(createRequire(import.meta.url).resolve('simple-icons/icons/x.svg'))

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
    return readFileSync(join(ICONS, `${mark}.svg`), 'utf8')
  } catch {
    return ''
  }
}
