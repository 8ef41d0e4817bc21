import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { type CompiledSite, OPENAPI } from '../compiled.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { toCompareList } from '../domain/compare/compare-view.ts'
import { isSwitchedOff } from '../domain/derived/tables.ts'
import { toFirstCall } from '../domain/kit/filled-call.ts'
import { toKitView } from '../domain/kit/kit-view.ts'
import { toTaskView } from '../domain/plans/task-plan.ts'
import { toAgentCard, toOwnServerCard } from '../domain/protocols/cards.ts'
import {
  toAiCatalog,
  toApiCatalog,
  toLlmsFullText,
  toLlmsText,
} from '../domain/protocols/directory-documents.ts'
import { toTrustView } from '../domain/views/trust-view.ts'
import {
  PROTOCOL_ENDPOINTS,
  ROUTES,
  type StaticProtocolId,
  type StaticRouteId,
} from '../domain/wire/routes.ts'
import { drawCard, toDrawingKey } from './cards/draw-card.ts'
import { toLinkCards } from './cards/link-cards.ts'
import type { Folder } from './folder.ts'
import { createOpenApi } from './openapi/create-openapi.ts'
import { writeNow } from './rows.ts'

/** For the directory's own ARD entries, which take at most five queries. */
const MOST_TOPICS = 4
const OWN_MARK = new URL('../assets/favicon.svg', import.meta.url)

/** `listing` is written with its group, the others row by row. */
type WrittenWithRows =
  | 'listing'
  | 'listings_dump'
  | 'listings_dump_gz'
  | 'trust_payments'
  | 'trust_payments_gz'
  | 'trust_payees'
  | 'receipt_days'
  | 'receipt_day'

/** The answer of each static route, or an answer for each value of its parameter. */
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

/** Every file of `public` that is neither a page nor one listing's alone. */
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
  // A function answers it, with a query: this is what it says without one.
  endpoint(ROUTES.compare_list.path, toCompareList(site.compare))
  writeOpenApi(folder, createOpenApi(site.base_url, site.texts))
  folder.write('public/favicon.svg', site.mark ?? readFileSync(OWN_MARK, 'utf8'))
  const { colours } = site.texts
  if (colours !== undefined) folder.write('public/colours.css', toColours(colours))
  const documents: Readonly<Record<string, ToDocument>> = DOCUMENTS
  for (const [id, { path }] of Object.entries(PROTOCOL_ENDPOINTS)) {
    const document = documents[id]?.(site, catalogue)
    if (typeof document === 'string') folder.write(`public${path}`, document)
    else if (document !== undefined) folder.writeJson(`public${path}`, document)
  }
  // Under its name in an earlier proposal.
  folder.writeJson(
    'public/.well-known/mcp/server-card.json',
    DOCUMENTS.mcp_server_card(site, catalogue),
  )
}

/** Writing it as YAML takes as long as all pages of a small directory. */
function writeOpenApi(folder: Folder, openApi: object): void {
  const json = `${JSON.stringify(openApi)}\n`
  writeNow(folder, OPENAPI, json)
  folder.write('public/openapi.json', json)
  folder.write('public/api/v1/openapi.json', json)
  if (folder.reuse('public/openapi.yaml', hash('sha256', json))) return
  const yaml = stringify(openApi, { aliasDuplicateObjects: false, lineWidth: 0 })
  folder.write('public/openapi.yaml', yaml)
}

/** Over the colours of `tokens.css`. The sign's letters are white, so it stays dark. */
function toColours({ light, dark }: { light: string; dark: string }): string {
  const deep = (colour: string, other: string) => `color-mix(in oklab, ${colour} 80%, ${other})`
  const night = `color-mix(in oklab, ${light} 75%, black)`
  return `html:root{--accent:light-dark(${light},${dark});--accent-deep:light-dark(${deep(light, 'black')},${deep(dark, 'white')});--accent-soft:light-dark(color-mix(in oklab,${light} 9%,white),color-mix(in oklab,${dark} 18%,black));--sign:light-dark(${light},${night});--sign-deep:light-dark(${deep(light, 'black')},${night});--on-sign-soft:#f0f3f1}\n`
}

type ToDocument = (site: CompiledSite, catalogue: Catalogue) => string | object
type ToAnswer = (site: CompiledSite, catalogue: Catalogue) => object

/** Documents of the doors that describe us and give each door's address. */
const DOCUMENTS: Readonly<Record<StaticProtocolId, ToDocument>> = {
  agent_card: ({ base_url, texts }) => toAgentCard(base_url, texts),
  mcp_server_card: ({ base_url, texts }) => toOwnServerCard(base_url, texts),
  ard_manifest: toCatalog,
  ai_catalog: toCatalog,
  api_catalog: ({ base_url }) => toApiCatalog(base_url),
  llms_txt({ base_url: baseUrl, texts: site, stats, categories: { categories } }, catalogue) {
    const { total } = stats.listings
    const first = toFirstCall(toCandidates(catalogue), baseUrl)
    return toLlmsText({ baseUrl, site, total, categories, first })
  },
  llms_full_txt({ base_url, texts }, { listings }) {
    const named = listings.map(({ id, facts }) => ({
      id,
      name: facts.name,
      summary: facts.summary,
    }))
    return toLlmsFullText(base_url, texts, named)
  },
}

/** A kit is made where it is looked at: mostly one. */
function toCandidates({ listings, baseUrl }: Catalogue) {
  return listings.map((listing) => ({
    id: listing.id,
    relay_reason: listing.buy.reason,
    brief: listing.facts,
    get kit() {
      return toKitView(listing, { baseUrl, trust: toTrustView(listing.trust, '') })
    },
  }))
}

function toCatalog({ base_url, texts, categories: { categories } }: CompiledSite): object {
  const byListings = [...categories].sort((a, b) => b.listings - a.listings)
  const topics = byListings.slice(0, MOST_TOPICS).map(({ name }) => name)
  return toAiCatalog(base_url, texts, topics)
}

/** Draws the cards of links; one whose drawing is the same is that of the release before. */
export async function drawCards(folder: Folder, site: CompiledSite): Promise<void> {
  const { categories, texts } = site
  for (const { path, svg } of toLinkCards(categories.categories, texts, texts.switches))
    if (!folder.reuse(`public${path}`, toDrawingKey(svg)))
      folder.write(`public${path}`, await drawCard(svg))
}
