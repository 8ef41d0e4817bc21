import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type CompiledSite, OPENAPI, SITE } from '../compiled.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { toCompareList, toCompareView } from '../domain/compare/compare-view.ts'
import { isSwitchedOff, type ReleaseFile, type SearchChoices } from '../domain/derived/tables.ts'
import { toFirstCall } from '../domain/kit/filled-call.ts'
import {
  type OfferOfTask,
  type TaskPage,
  type TaskView,
  toTaskPages,
} from '../domain/plans/task-offers.ts'
import { toAgentCard, toOwnServerCard } from '../domain/protocols/cards.ts'
import {
  toAiCatalog,
  toApiCatalog,
  toLlmsFullText,
  toLlmsText,
} from '../domain/protocols/catalogues.ts'
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
import { kindPath } from '../domain/wire/links.ts'
import {
  type LiveProtocolId,
  PROTOCOL_ENDPOINTS,
  type ProtocolEndpointId,
  ROUTES,
  type RouteId,
} from '../domain/wire/routes.ts'
import { KINDS } from '../domain/wire/vocabulary.ts'
import type { Folder } from './folder.ts'
import { createOpenApi } from './openapi/create-openapi.ts'
import { writeNow, writeTrustLedger } from './rows.ts'

const OWN_MARK = new URL('../assets/favicon.svg', import.meta.url)

/** Routes whose files are written while listings are made, one listing or row after another. */
type WrittenWithRows =
  | 'listing'
  | 'listings_dump'
  | 'listings_dump_gz'
  | 'trust_payments'
  | 'trust_payments_gz'
  | 'trust_payees'
  | 'receipt_days'
  | 'receipt_day'

/** The answer for each static route, or an answer for each value of its parameter. */
const ENDPOINTS: Readonly<
  Record<
    Exclude<StaticRouteId, WrittenWithRows>,
    (site: CompiledSite, catalogue: Catalogue) => object
  >
> = {
  categories: (site) => site.categories,
  sources: (site) => site.sources,
  tasks: (site) => ({ tasks: site.task_pages.map(toTaskView) }),
  task: (site) => new Map(site.task_pages.map((view) => [view.id, view])),
  stats: (site) => site.stats,
  trust_method: (site) => site.trust_method,
  business_model: (site) => site.business_model,
  roadmap: (site) => site.roadmap,
  market_reports: (site) => site.market_reports,
  compare: (site) => new Map(site.compare.map((page) => [page.slug, page])),
}

/** All views that cover many listings, for the pages. */
export function writeSite(folder: Folder, catalogue: Catalogue, made: OfListings): CompiledSite {
  const { ledger, trustPayees } = catalogue
  const trust = writeTrustLedger(folder, ledger, trustPayees)
  const site = toCompiledSite(catalogue, { ...made, trust })
  writeNow(folder, SITE, JSON.stringify(site))
  writeNow(folder, OPENAPI, `${JSON.stringify(createOpenApi(site.base_url, site.texts))}\n`)
  return site
}

/** What was made while the listings were written. */
interface OfListings {
  dump: DumpFacts
  offers: OfferOfTask[]
}

/** Writes every file in `public` that is neither a page nor about a single listing. */
export function writeSiteFiles(folder: Folder, site: CompiledSite, catalogue: Catalogue): void {
  const { switches } = site.texts
  const endpoint = (path: string, value: unknown) => {
    if (!isSwitchedOff(path, switches)) folder.writeJson(`public${path}/index.json`, value)
  }
  const answers: Readonly<Record<string, ToAnswer>> = ENDPOINTS
  for (const [id, { path }] of Object.entries(ROUTES)) {
    const answer = answers[id]?.(site, catalogue)
    if (answer instanceof Map)
      for (const [name, value] of answer) endpoint(path.replace(/:\w+/, name), value)
    else if (answer !== undefined) endpoint(path, answer)
  }
  // A function answers this path with a query; this file is the answer without a query.
  endpoint(ROUTES.compare_list.path, toCompareList(site.compare))
  for (const path of ['openapi.json', 'api/v1/openapi.json']) folder.link(`public/${path}`, OPENAPI)
  folder.write('public/favicon.svg', site.mark ?? readFileSync(OWN_MARK, 'utf8'))
  const { colours } = site.texts
  if (colours !== undefined) folder.write('public/colours.css', toColours(colours))
  const documents: Readonly<Record<string, ToDocument>> = DOCUMENTS
  for (const [id, { path }] of Object.entries(PROTOCOL_ENDPOINTS)) {
    const document = documents[id]?.(site, catalogue)
    if (typeof document === 'string') folder.write(`public${path}`, document)
    else if (document !== undefined) folder.writeJson(`public${path}`, document)
  }
  // The browser's search reads this file on a host without functions.
  folder.writeJson('public/pagefind/tasks.json', toTaskWords(site, catalogue))
  // The card's name in an earlier proposal.
  folder.writeJson(
    'public/.well-known/mcp/server-card.json',
    DOCUMENTS.mcp_server_card(site, catalogue),
  )
}

/** Tasks that at least one listing does, each with all words that people use for it. */
function toTaskWords({ task_pages }: CompiledSite, { tables: { taskWords } }: Catalogue) {
  return task_pages
    .filter(({ sellers }) => sellers > 0)
    .map(({ id, name, page, words }) => ({
      ...{ id, name, page },
      words: [...words, ...(taskWords[id] ?? [])],
    }))
}

/** Overrides the colours in `tokens.css`. The sign's letters are white, so the sign stays dark. */
function toColours({ light, dark }: { light: string; dark: string }): string {
  const deep = (colour: string, other: string) => `color-mix(in oklab, ${colour} 80%, ${other})`
  const night = `color-mix(in oklab, ${light} 75%, black)`
  return `html:root{--accent:light-dark(${light},${dark});--accent-deep:light-dark(${deep(light, 'black')},${deep(dark, 'white')});--accent-soft:light-dark(color-mix(in oklab,${light} 9%,white),color-mix(in oklab,${dark} 18%,black));--sign:light-dark(${light},${night});--sign-deep:light-dark(${deep(light, 'black')},${night});--on-sign-soft:#f0f3f1}\n`
}

type ToDocument = (site: CompiledSite, catalogue: Catalogue) => string | object
type ToAnswer = (site: CompiledSite, catalogue: Catalogue) => object

/** Documents for other protocols that describe this directory and give its endpoints' addresses. */
const DOCUMENTS: Readonly<Record<StaticProtocolId, ToDocument>> = {
  agent_card: ({ base_url, texts }) => toAgentCard(base_url, texts),
  mcp_server_card: ({ base_url, texts }) => toOwnServerCard(base_url, texts),
  ard_manifest: toAiCatalog,
  ai_catalog: toAiCatalog,
  api_catalog: toApiCatalog,
  llms_txt: toLlmsText,
  llms_full_txt({ base_url, texts }, { listings }) {
    const named = listings.map(({ id, facts }) => ({
      id,
      name: facts.name,
      summary: facts.summary,
    }))
    return toLlmsFullText(base_url, texts, named)
  },
}

/** Draws the link cards; a card with an unchanged drawing is taken from the previous release. */
export async function drawCards(folder: Folder, site: CompiledSite): Promise<void> {
  // The drawing code takes a moment to load, and a build that changes nothing draws no card.
  const { drawCard, toLinkCards } = await import('./cards/link-cards.ts')
  const { categories, texts } = site
  for (const { path, svg } of toLinkCards(categories.categories, texts, texts.switches))
    if (!folder.reuse(`public${path}`, hash('sha256', svg)))
      folder.write(`public${path}`, await drawCard(svg))
}

/** Routes answered by a file; the build must write each. */
type StaticRouteId = {
  [Id in RouteId]: (typeof ROUTES)[Id]['answer'] extends 'static' ? Id : never
}[RouteId]

/** Every view on the site except those of single listings. */
function toCompiledSite(
  catalogue: Catalogue,
  { dump, trust, offers }: OfListings & { trust: TrustLedgerFacts },
): CompiledSite {
  const { baseUrl, listings, tables, sources, byId, ledger } = catalogue
  const task_pages = toTaskPages(tables.tasks, offers)
  const compare = {
    ...{ baseUrl, site: tables.site, sources, listings: byId },
    ...{ tasks: task_pages, demand: ledger.demand },
  }
  const not_listed = withoutListed(tables.notListed, listings)
  const market_reports = toMarketReportsView(listings, tables.market)
  const empty = toEmptyPages(catalogue, { task_pages, not_listed, market_reports })
  const worn = [...new Set(listings.flatMap(({ mark }) => mark ?? []))].sort()
  return {
    base_url: baseUrl,
    stats: toStatsView(listings, dump, trust, catalogue),
    categories: toCategoriesView(tables.categories, listings),
    sources: toSourcesView(tables.sources, listings),
    roadmap: toRoadmapView(tables.roadmap),
    business_model: toBusinessModelView(tables.site),
    market_reports,
    trust_method: toTrustMethodView(tables, catalogue.measuredOperators),
    compare: catalogue.pages.map(({ slug, facts }) => toCompareView(slug, facts, compare)),
    gone: catalogue.gone,
    also_search: tables.alsoSearch,
    texts: { ...tables.site, empty },
    mark: catalogue.mark,
    marks: Object.fromEntries(worn.map((mark) => [mark, toMarkSvg(mark)])),
    not_listed,
    policies: tables.policies.map((policy) => toPolicyView(policy, listings)),
    task_pages,
    first_call: toFirstCall(listings, baseUrl),
  }
}

/** Pages that would be empty, to which nothing may link. */
function toEmptyPages(
  { listings, pages }: Catalogue,
  site: Pick<CompiledSite, 'task_pages' | 'not_listed' | 'market_reports'>,
): string[] {
  const { prices, measurements } = site.market_reports.preview
  const hasMedian = prices.some(({ median_min_usd }) => median_min_usd !== undefined)
  return [
    ...KINDS.filter((kind) => !listings.some(({ facts }) => facts.kind === kind)).map(kindPath),
    ...(site.not_listed.some(({ hosts }) => hosts.length > 0) ? [] : ['/not-listed']),
    ...(site.task_pages.some(({ sellers }) => sellers > 0) ? [] : ['/tasks']),
    ...(pages.length > 0 ? [] : ['/compare']),
    ...(measurements.length > 0 || hasMedian ? [] : ['/market']),
  ]
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

/** The search page's filter values: every category, and the sources that have listings. */
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
/** Resolving a file in the package takes as long as reading it. */
const ICONS = dirname(createRequire(import.meta.url).resolve('simple-icons/icons/x.svg'))

/**
 * A brand's mark as simple-icons draws it, on a square of 24. Its path has the id `m`, so that a
 * page draws it with `<use>` in the colour of its text.
 * @throws if simple-icons has no such mark
 */
export function toMarkSvg(mark: string): string {
  const path = PATH.exec(readIcon(mark))?.[1]
  if (path === undefined)
    throw new Error(`tables/marks.yaml: expected a simple-icons id, got ${mark}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path id="m" d="${path}"/></svg>`
}

function readIcon(mark: string): string {
  try {
    return readFileSync(join(ICONS, `${mark}.svg`), 'utf8')
  } catch {
    return ''
  }
}

/** A task's view for the list of all tasks. */
function toTaskView({ offers: _, ...view }: TaskPage): TaskView {
  return view
}

/** Protocol documents answered by a file; the build must write each. */
type StaticProtocolId = Exclude<ProtocolEndpointId, LiveProtocolId>
