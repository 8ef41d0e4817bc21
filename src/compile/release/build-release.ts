import { renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { toLiveListing } from '../../domain/derived/live-listing-view.ts'
import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'
import { buildSearchIndex } from '../../search/build-search-index.ts'
import type { Content } from '../content/read-content.ts'
import { type Catalogue, createCatalogue } from '../derive/catalogue.ts'
import { toSearchDocument } from '../derive/search-documents.ts'
import { compressFiles } from './compress-files.ts'
import { indexPages } from './index-pages.ts'
import { toNginxRules } from './nginx-rules.ts'
import { createWorkDir, publishRelease } from './publish-release.ts'
import { createReleaseWriter } from './release-writer.ts'
import { renderPages } from './render-pages.ts'
import { toCompiledListings, toCompiledSite, writeCompiled } from './write-compiled.ts'
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
    const site = timed('site views', () => toCompiledSite(catalogue))
    const listings = timed('listing views', () => [...toCompiledListings(catalogue)])
    timed('search index', () => writeData(data, catalogue, name))
    timed('compiled catalogue', () => writeCompiled(compiled, site, listings))
    await timed('pages', () =>
      renderPages({
        compiledDir: join(work, 'compiled'),
        outDir: join(work, 'site'),
        cacheDir: join(work, 'cache'),
      }),
    )
    renameSync(join(work, 'site', 'client'), join(work, 'public'))
    renameSync(join(work, 'site', 'server'), join(work, 'server'))
    await timed('page search', () => indexPages({ siteDir: join(work, 'public') }))
    timed('json and badges', () => writeStatic(files, site, listings))
    const manifest = await timed('compress', () => compressFiles(join(work, 'public')))
    createReleaseWriter(join(work, 'deploy')).write('nginx.conf', toNginxRules())
    data.write('files.ndjson', manifest.map((file) => `${JSON.stringify(file)}\n`).join(''))
    for (const rest of ['site', 'cache', 'compiled'])
      rmSync(join(work, rest), { recursive: true, force: true })
    timed('publish', () => publishRelease(outDir, name, work), manifest.length)
  } catch (error) {
    rmSync(work, { recursive: true, force: true })
    throw error
  }
}

function writeData(
  writer: ReturnType<typeof createReleaseWriter>,
  { listings, tables, baseUrl }: Catalogue,
  name: string,
): void {
  const known = {
    categories: tables.categories.map(({ id }) => id),
    sources: tables.sources.map(({ id }) => id),
  }
  writer.write(
    'search.index',
    buildSearchIndex(
      listings.map((listing) => toSearchDocument(listing, baseUrl)),
      known,
    ),
  )
  writer.write(
    'listings.ndjson',
    listings.map((listing) => `${JSON.stringify(toLiveListing(listing))}\n`).join(''),
  )
  writer.writeJson('release.json', {
    name,
    base_url: baseUrl,
    texts: tables.site,
    also_search: tables.alsoSearch,
  })
}

function createStages(onStage: BuildOptions['onStage']) {
  return function timed<Result>(stage: string, work: () => Result, files = 0): Result {
    const start = performance.now()
    const finish = () => onStage(stage, performance.now() - start, files)
    const result = work()
    if (result instanceof Promise) void result.then(finish, () => undefined)
    else finish()
    return result
  }
}
