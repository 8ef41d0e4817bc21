import { renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { CompiledListing, CompiledSite } from '../../compiled.ts'
import { toLiveListing } from '../../domain/derived/live-listing-view.ts'
import type { PublishedFile, ReleaseFile } from '../../domain/derived/release-file.ts'
import { toResourceRows } from '../../domain/doors/discovery-resource.ts'
import { toRegistryRows } from '../../domain/doors/registry-entry.ts'
import { planProbe } from '../../domain/probe/keep/plan-probe.ts'
import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'
import { toCompareRow } from '../../domain/views/compare-row.ts'
import type { StaticFile } from '../../domain/wire/static-file.ts'
import { buildSearchIndex } from '../../search/index/build-search-index.ts'
import type { Content } from '../content/read-content.ts'
import { writeDeploy } from '../deploy/write-deploy.ts'
import { type Catalogue, createCatalogue } from '../derive/catalogue.ts'
import { toSearchDocument } from '../derive/search-documents.ts'
import { COMPRESSION } from '../files/compress-file.ts'
import { compressFiles, describeFiles, sortFiles } from '../files/compress-files.ts'
import { createReleaseWriter, type ReleaseWriter } from '../files/release-writer.ts'
import { indexPages } from '../pages/index-pages.ts'
import { renderPages } from '../pages/render-pages.ts'
import { toCompiledListings, toCompiledSite, writeCompiled } from '../pages/write-compiled.ts'
import { toContentHashes } from './content-hashes.ts'
import { createDump, writeDump } from './create-dump.ts'
import { deflateBlock } from './deflate-block.ts'
import { drawCards } from './draw-cards.ts'
import { describe, type PageCode, placePageCode } from './page-code.ts'
import { createWorkDir, publishRelease, readCurrent } from './publish-release.ts'
import { toSearchChoices } from './search-choices.ts'
import { writeSearchFunction } from './search-function.ts'
import { createStages, type Timed } from './stages.ts'
import { writeStatic } from './write-static.ts'

export interface BuildOptions {
  /** Name of the release, by its inputs (`nameRelease`). */
  name: string
  content: Content
  outDir: string
  baseUrl: string
  allowPrivate: boolean
  ledger: LedgerFacts
  /** Told when a stage ends: its name, how long it took (ms), and files written by then. */
  onStage: (stage: string, ms: number, files: number) => void
}

/** Folder of the page code of a release that has none. */
const NO_PAGE_CODE = `server/${'0'.repeat(32)}`

/**
 * Builds a release and publishes it by switching one link, so that a reader sees the old release
 * or the new one, never a mixture. A build that fails leaves the old one serving.
 *
 * `data/` is what the functions load, `public/` what a CDN serves, `server/` Astro's on-demand pages.
 */
export async function buildRelease(options: BuildOptions): Promise<void> {
  const { name, content, baseUrl, allowPrivate, ledger } = options
  const outDir = resolve(options.outDir)
  const work = createWorkDir(outDir, name)
  const timed = createStages(options.onStage)
  try {
    const catalogue = timed('derive', () =>
      createCatalogue(content, { baseUrl, rules: { allowPrivate }, ledger }),
    )
    const data = createReleaseWriter(join(work, 'data'))
    const compiled = createReleaseWriter(join(work, 'compiled'))
    const files = createReleaseWriter(join(work, 'public'))
    const listings = timed('listing views', () => [...toCompiledListings(catalogue)])
    const dump = timed('dump', () => createDump(listings))
    const site = timed('site views', () => toCompiledSite(catalogue, dump.facts))
    const index = timed('search index', () => toSearchIndex(catalogue))
    data.write('search.index', index)
    timed('compiled catalogue', () => writeCompiled(compiled, site, listings))
    const cards = await timed('pages', () => renderSite(work, site))
    renameSync(join(work, 'site', 'client'), join(work, 'public'))
    placeSearchFile(join(work, 'public'))
    const pageCode = placePageCode(join(work, 'site', 'server'), work)
    for (const [file, png] of cards) files.write(file, png)
    const manifest = await finishPublic(work, {
      timed,
      before: toReleaseDir(outDir, readCurrent(outDir)),
      writeRest: () => {
        writeStatic(files, site, listings)
        writeDump(files, dump)
      },
    })
    writeDeploy(createReleaseWriter(join(work, 'deploy')), baseUrl, manifest)
    const search = await timed('search function', () => writeSearchFunction(work, catalogue))
    Object.assign(pageCode.files, search)
    writeData(data, { name, catalogue, listings, site, manifest, index: describe(index), pageCode })
    for (const rest of ['site', 'cache', 'compiled'])
      rmSync(join(work, rest), { recursive: true, force: true })
    timed('publish', () => publishRelease(outDir, name, work), manifest.length)
  } catch (error) {
    rmSync(work, { recursive: true, force: true })
    throw error
  }
}

/** Hosts of files answer `/search` with `search.html`; where functions stand, they do. */
function placeSearchFile(root: string): void {
  renameSync(join(root, 'search/file/index.html'), join(root, 'search.html'))
  rmSync(join(root, 'search'), { recursive: true })
}

/** Pages in a process of their own; the cards of links meanwhile, in a thread. */
async function renderSite(work: string, site: CompiledSite): Promise<Map<string, Uint8Array>> {
  const [cards] = await Promise.all([
    drawCards(site),
    renderPages({
      compiledDir: join(work, 'compiled'),
      outDir: join(work, 'site'),
      cacheDir: join(work, 'cache'),
    }),
  ])
  return cards
}

/**
 * What stands beside the pages: their search in the browser, JSON and badges, compressed copies.
 * Pagefind is a process of its own and mostly waits for one core; the others keep the rest busy.
 */
async function finishPublic(
  work: string,
  { timed, before, writeRest }: { timed: Timed; before: string | null; writeRest: () => void },
): Promise<StaticFile[]> {
  const root = join(work, 'public')
  const outputPath = join(work, 'pagefind')
  const compressRest = () => {
    timed('json and badges', writeRest)
    return timed('compress', () => compressFiles({ root, before }))
  }
  const [, rest] = await Promise.all([
    timed('page search', () => indexPages({ siteDir: root, outputPath })),
    compressRest(),
  ])
  renameSync(outputPath, join(root, 'pagefind'))
  return sortFiles([...rest, ...(await compressFiles({ root, below: 'pagefind', before }))])
}

function toReleaseDir(outDir: string, folder: string | null): string | null {
  return folder === null ? null : join(outDir, 'releases', folder)
}

/**
 * What the functions need, for the development server: it renders pages itself, from `compiledDir`,
 * each time one is asked for. Nothing is compressed: there is no distance to travel.
 */
export function buildWithoutPages(
  options: Omit<BuildOptions, 'onStage'> & { compiledDir: string },
): void {
  const { name, content, baseUrl, allowPrivate, ledger, compiledDir } = options
  const outDir = resolve(options.outDir)
  const work = createWorkDir(outDir, name)
  const catalogue = createCatalogue(content, { baseUrl, rules: { allowPrivate }, ledger })
  const listings = [...toCompiledListings(catalogue)]
  const dump = createDump(listings)
  const site = toCompiledSite(catalogue, dump.facts)
  writeCompiled(createReleaseWriter(compiledDir), site, listings)
  const files = createReleaseWriter(join(work, 'public'))
  writeStatic(files, site, listings)
  writeDump(files, dump)
  const data = createReleaseWriter(join(work, 'data'))
  const index = toSearchIndex(catalogue)
  data.write('search.index', index)
  writeData(data, {
    name,
    catalogue,
    listings,
    site,
    manifest: describeFiles(join(work, 'public')),
    index: describe(index),
    pageCode: { folder: NO_PAGE_CODE, files: {} },
  })
  publishRelease(outDir, name, work)
}

function toSearchIndex({ listings, tables, baseUrl }: Catalogue): Uint8Array {
  return buildSearchIndex(
    listings.map((listing) => toSearchDocument(listing, baseUrl)),
    {
      categories: tables.categories.map(({ id }) => id),
      sources: tables.sources.map(({ id }) => id),
      words: tables.searchWords,
      deflate: deflateBlock,
    },
  )
}

interface ReleaseData {
  name: string
  catalogue: Catalogue
  listings: readonly CompiledListing[]
  site: CompiledSite
  manifest: readonly StaticFile[]
  index: PublishedFile
  pageCode: PageCode
}

/** What the functions read. `release.json` comes last: it describes the rest. */
function writeData(
  writer: ReleaseWriter,
  { name, catalogue, listings, site, manifest, index, pageCode }: ReleaseData,
): void {
  const toLines = (rows: readonly unknown[]) =>
    rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const data = {
    'listings.ndjson': toLines(catalogue.listings.map(toLiveListing)),
    'opted-out.ndjson': toLines(catalogue.optedOut),
    'files.ndjson': toLines(manifest),
    'compare-rows.ndjson': toLines(
      catalogue.listings.map((listing) => toCompareRow(listing, catalogue.sources)),
    ),
    'mcp-servers.ndjson': toLines(
      toRegistryRows(catalogue.listings, catalogue.goneServers, catalogue.baseUrl),
    ),
    'paid-resources.ndjson': toLines(toResourceRows(catalogue.listings, catalogue.baseUrl)),
    'probe-plans.ndjson': toLines(
      catalogue.listings.flatMap(({ id, facts }) => planProbe(id, facts) ?? []),
    ),
    'gone.ndjson': toLines(catalogue.gone),
    'content-hashes.ndjson': toLines(toContentHashes(listings)),
  }
  for (const [file, text] of Object.entries(data)) writer.write(file, text)
  const described = Object.entries(data).map(([file, text]) => [`data/${file}`, describe(text)])
  writer.writeJson('release.json', {
    name,
    base_url: catalogue.baseUrl,
    shared_hosts: catalogue.tables.sharedHosts,
    texts: catalogue.tables.site,
    also_search: catalogue.tables.alsoSearch,
    search_choices: toSearchChoices(site.stats, site.categories, site.sources),
    tasks: site.tasks.map(({ id, name }) => ({ id, name })),
    page_code: pageCode.folder,
    compression: COMPRESSION,
    files: { ...Object.fromEntries(described), 'data/search.index': index, ...pageCode.files },
  } satisfies ReleaseFile)
}
