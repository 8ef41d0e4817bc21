import { readFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { createOpenApi } from '../../build/openapi/create-openapi.ts'
import type { CompiledSite } from '../../compiled.ts'
import { toCompareList } from '../../domain/compare/compare-view.ts'
import { isSwitchedOff } from '../../domain/derived/switches.ts'
import { toAgentCard, toOwnServerCard } from '../../domain/doors/cards/own-cards.ts'
import {
  toAiCatalog,
  toApiCatalog,
  toLlmsFullText,
  toLlmsText,
} from '../../domain/doors/catalog-documents.ts'
import { toFirstCall } from '../../domain/kit/first-call.ts'
import { toBadgeEndpoint, toBadgeView } from '../../domain/views/badge-view.ts'
import { DOORS, type StaticDoorId } from '../../domain/wire/door-table.ts'
import { badgeDataPath, badgePath, kitPath, listingPath } from '../../domain/wire/links.ts'
import { ROUTES, type StaticRouteId } from '../../domain/wire/route-table.ts'
import { renderBadgeSvg } from '../../site/badges/badge-svg.ts'
import type { ReleaseFiles } from '../files/release-files.ts'
import { splitRows } from '../files/release-writer.ts'
import type { LazyListing } from '../pages/write-compiled.ts'
import type { Group } from './listing-parts.ts'

/** For the directory's own ARD entries, which take at most five queries. */
const MOST_TOPICS = 4
const OWN_MARK = new URL('../../site/frame/favicon.svg', import.meta.url)

/**
 * What is served of each listing of a group. A bare address is a folder with `index.json` in it:
 * ids contain dots and one may end in `.json`, so `<id>.json` and `<id>/kit.json` could collide.
 *
 * @param lines the JSON of each listing, in their order
 */
export function writeListings(
  writer: ReleaseFiles,
  { listings, key: group }: Group,
  lines: Buffer,
  directory: string,
): void {
  const key = `files of ${group}`
  if (writer.reuse(key)) return
  const views = splitRows(lines)
  const made = listings.flatMap(({ view, kit }, place): [string, string | Uint8Array][] => {
    const badge = toBadgeView(view, directory)
    return [
      [kitPath(view.id).slice(1), `${JSON.stringify(kit)}\n`],
      [`${listingPath(view.id).slice(1)}/index.json`, views[place] ?? ''],
      [badgePath(view.id).slice(1), renderBadgeSvg(badge)],
      [badgeDataPath(view.id).slice(1), `${JSON.stringify(toBadgeEndpoint(badge))}\n`],
    ]
  })
  writer.writeMade(key, made)
}

/** `listing` is written with its group, the others row by row. */
type WrittenWithRows =
  | 'listing'
  | 'listings_dump'
  | 'listings_dump_gz'
  | 'trust_payments'
  | 'trust_payments_gz'
  | 'trust_payees'

/** The answer of each static route, or an answer for each value of its parameter. */
const ENDPOINTS: Readonly<
  Record<Exclude<StaticRouteId, WrittenWithRows>, (site: CompiledSite) => object>
> = {
  categories: (site) => site.categories,
  sources: (site) => site.sources,
  tasks: (site) => ({ tasks: site.task_views }),
  task: (site) => new Map(site.task_views.map((view) => [view.id, view])),
  stats: (site) => site.stats,
  trust_method: (site) => site.trust_method,
  business_model: (site) => site.business_model,
  roadmap: (site) => site.roadmap,
  market_reports: (site) => site.market_reports,
  compare: (site) => new Map(site.compare.map((page) => [page.slug, page])),
}

/** The other static endpoints, see `writeListings` for their names. */
export function writeStatic(
  writer: ReleaseFiles,
  site: CompiledSite,
  listings: readonly LazyListing[],
): void {
  const { switches } = site.texts
  const endpoint = (path: string, value: unknown) => {
    if (!isSwitchedOff(path, switches)) writer.writeJson(`${path.slice(1)}/index.json`, value)
  }
  const answers: Readonly<Record<string, (site: CompiledSite) => object>> = ENDPOINTS
  for (const [id, { path }] of Object.entries(ROUTES)) {
    const answer = answers[id]?.(site)
    if (answer instanceof Map)
      for (const [name, value] of answer) endpoint(path.replace(/:\w+/, name), value)
    else if (answer !== undefined) endpoint(path, answer)
  }
  // A function answers it, with a query: this is what it says without one.
  endpoint(ROUTES.compare_list.path, toCompareList(site.compare))
  writeOpenApi(writer, createOpenApi(site.base_url, site.texts))
  writer.write('favicon.svg', site.mark ?? readFileSync(OWN_MARK, 'utf8'))
  const { colours } = site.texts
  if (colours !== undefined) writer.write('colours.css', toColours(colours))
  const documents: Readonly<Record<string, ToDocument>> = DOCUMENTS
  for (const [id, { path }] of Object.entries(DOORS)) {
    const document = documents[id]?.(site, listings)
    if (typeof document === 'string') writer.write(path.slice(1), document)
    else if (document !== undefined) writer.writeJson(path.slice(1), document)
  }
  // Under its name in an earlier proposal.
  writer.writeJson('.well-known/mcp/server-card.json', DOCUMENTS.mcp_server_card(site, listings))
}

/** Reading it as YAML takes as long as all pages of a small directory. */
function writeOpenApi(writer: ReleaseFiles, openApi: object): void {
  const json = `${JSON.stringify(openApi)}\n`
  const key = `OpenAPI ${json}`
  if (writer.reuse(key)) return
  const yaml = stringify(openApi, { aliasDuplicateObjects: false, lineWidth: 0 })
  writer.writeMade(key, [
    ['openapi.json', json],
    ['api/v1/openapi.json', json],
    ['openapi.yaml', yaml],
  ])
}

/** Over the colours of `tokens.css`. The sign's letters are white, so it stays dark. */
function toColours({ light, dark }: { light: string; dark: string }): string {
  const deep = (colour: string, other: string) => `color-mix(in oklab, ${colour} 80%, ${other})`
  const night = `color-mix(in oklab, ${light} 75%, black)`
  return `html:root{--accent:light-dark(${light},${dark});--accent-deep:light-dark(${deep(light, 'black')},${deep(dark, 'white')});--accent-soft:light-dark(color-mix(in oklab,${light} 9%,white),color-mix(in oklab,${dark} 18%,black));--sign:light-dark(${light},${night});--sign-deep:light-dark(${deep(light, 'black')},${night});--on-sign-soft:#f0f3f1}\n`
}

type ToDocument = (site: CompiledSite, listings: readonly LazyListing[]) => string | object

/** Documents of the doors that describe us and give each door's address. */
const DOCUMENTS: Readonly<Record<StaticDoorId, ToDocument>> = {
  agent_card: ({ base_url, texts }) => toAgentCard(base_url, texts),
  mcp_server_card: ({ base_url, texts }) => toOwnServerCard(base_url, texts),
  ard_manifest: toCatalog,
  ai_catalog: toCatalog,
  api_catalog: ({ base_url }) => toApiCatalog(base_url),
  llms_txt({ base_url: baseUrl, texts: site, stats, categories: { categories } }, listings) {
    const { total } = stats.listings
    const first = toFirstCall(listings, baseUrl)
    return toLlmsText({ baseUrl, site, total, categories, first })
  },
  llms_full_txt({ base_url, texts }, listings) {
    const named = listings.map(({ id, derived: { facts } }) => ({
      id,
      name: facts.name,
      summary: facts.summary,
    }))
    return toLlmsFullText(base_url, texts, named)
  },
}

function toCatalog({ base_url, texts, categories: { categories } }: CompiledSite): object {
  const byListings = [...categories].sort((a, b) => b.listings - a.listings)
  const topics = byListings.slice(0, MOST_TOPICS).map(({ name }) => name)
  return toAiCatalog(base_url, texts, topics)
}
