import { readFileSync } from 'node:fs'
import { stringify } from 'yaml'
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
import { toBadgeEndpoint, toBadgeView } from '../../domain/views/badge-view.ts'
import { badgeDataPath, badgePath, kitPath, listingPath } from '../../domain/wire/links.ts'
import { renderBadgeSvg } from '../../site/badges/badge-svg.ts'
import type { ReleaseFiles } from '../files/release-files.ts'
import { type ReleaseWriter, splitRows } from '../files/release-writer.ts'
import { createOpenApi } from '../openapi/create-openapi.ts'
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
  endpoint('/api/v1/categories', site.categories)
  endpoint('/api/v1/sources', site.sources)
  endpoint('/api/v1/tasks', { tasks: site.task_views })
  for (const view of site.task_views) endpoint(`/api/v1/tasks/${view.id}`, view)
  endpoint('/api/v1/stats', site.stats)
  endpoint('/api/v1/trust/method', site.trust_method)
  endpoint('/api/v1/business-model', site.business_model)
  endpoint('/api/v1/roadmap', site.roadmap)
  endpoint('/api/v1/market/reports', site.market_reports)
  endpoint('/api/v1/compare', toCompareList(site.compare))
  for (const page of site.compare) endpoint(`/api/v1/compare/${page.slug}`, page)
  writeOpenApi(writer, createOpenApi(site.base_url, site.texts))
  writer.write('favicon.svg', site.mark ?? readFileSync(OWN_MARK, 'utf8'))
  const { colours } = site.texts
  if (colours !== undefined) writer.write('colours.css', toColours(colours))
  writeDoors(writer, site, listings)
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

/** Documents of the doors that describe us and give each door's address. */
function writeDoors(
  writer: ReleaseWriter,
  { base_url: baseUrl, categories, stats, texts: names }: CompiledSite,
  listings: readonly LazyListing[],
): void {
  writer.writeJson('.well-known/agent-card.json', toAgentCard(baseUrl, names))
  const byListings = [...categories.categories].sort((a, b) => b.listings - a.listings)
  const topics = byListings.slice(0, MOST_TOPICS).map(({ name }) => name)
  for (const name of ['ard', 'ai-catalog'])
    writer.writeJson(`.well-known/${name}.json`, toAiCatalog(baseUrl, names, topics))
  writer.writeJson('.well-known/api-catalog', toApiCatalog(baseUrl))
  for (const file of ['mcp/server-card', '.well-known/mcp/server-card.json'])
    writer.writeJson(file, toOwnServerCard(baseUrl, names))
  const { total } = stats.listings
  const relayed = listings.find(({ relay_reason }) => relay_reason === null)
  const example = (relayed ?? listings[0])?.id
  writer.write(
    'llms.txt',
    toLlmsText({ baseUrl, site: names, total, categories: categories.categories, example }),
  )
  const named = listings.map(({ id, derived: { facts } }) => ({
    id,
    name: facts.name,
    summary: facts.summary,
  }))
  writer.write('llms-full.txt', toLlmsFullText(baseUrl, names, named))
}
