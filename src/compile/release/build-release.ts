import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { PrivateTargets, UrlRules } from '../../domain/listing/target-url.ts'
import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'
import type { StaticFile } from '../../domain/wire/static-file.ts'
import type { Content } from '../content/read-content.ts'
import { toHeaderRules, toRedirectRules } from '../deploy/host-rules.ts'
import { toNginxRules } from '../deploy/nginx-rules.ts'
import { type Catalogue, createCatalogue } from '../derive/catalogue.ts'
import { makeSearchIndexes, toIndexTables, toSearchIndex } from '../engine/write-engine.ts'
import { describeFiles } from '../files/compress-files.ts'
import { openMemory } from '../files/memory.ts'
import { createReleaseWriter, digestOf, type ReleaseWriter } from '../files/release-writer.ts'
import { createStages, type OnStage, type Timed } from '../files/stages.ts'
import { toCompiledListings, toCompiledSite, writeCompiled } from '../pages/write-compiled.ts'
import { type BegunRelease, beginRelease } from './begin-release.ts'
import { createDump, writeDump } from './create-dump.ts'
import { writeSearchFunction } from './edge-function.ts'
import { type ListingParts, toListingParts } from './listing-parts.ts'
import { describe } from './page-code.ts'
import { createWorkDir, isNamed, publishRelease, readCurrent } from './publish-release.ts'
import { writeManifest, writeRows } from './release-data.ts'
import { writePublic } from './write-public.ts'
import { writeStatic } from './write-static.ts'

export interface BuildOptions {
  /** Name of the release, by its inputs (`nameRelease`). */
  name: string
  content: Content
  outDir: string
  baseUrl: string
  allowPrivate: PrivateTargets
  ledger: LedgerFacts
}

/** Folder of the page code of a release that has none. */
const NO_PAGE_CODE = `server/${'0'.repeat(32)}`

/**
 * Builds a release and publishes it by switching one link, so that a reader sees the old release
 * or the new one, never a mixture. A build that fails leaves the old one serving.
 *
 * `data/` is what the functions load, `public/` what a CDN serves, `server/` Astro's on-demand pages.
 */
export async function buildRelease(options: BuildOptions & { onStage: OnStage }): Promise<void> {
  const { name, content, baseUrl, allowPrivate, ledger } = options
  const outDir = resolve(options.outDir)
  const work = createWorkDir(outDir, name)
  const timed = createStages(options.onStage)
  const current = readCurrent(outDir)
  // One of the same name was looked at to the last byte, and is damaged: nothing of it is used.
  const isUsable = current !== null && !isNamed(current, name)
  const before = isUsable ? join(outDir, 'releases', current) : null
  const begun = beginRelease(work, { outDir, baseUrl, before, site: content.tables.site })
  try {
    const catalogue = timed('derive', () =>
      createCatalogue(content, { baseUrl, rules: { allowPrivate }, ledger }),
    )
    const views = makeViews(catalogue, { allowPrivate }, { begun, timed })
    const data = createReleaseWriter(join(work, 'data'))
    // The thread still links what the rest is written beside.
    const rows = timed('data', () => writeRows(data, catalogue, views.parts))
    const written = await writePublic(work, { begun, ...views, timed })
    const manifest = written.files.map(({ entry }) => entry)
    timed('deploy', () => writeDeploy(createReleaseWriter(join(work, 'deploy')), baseUrl, manifest))
    const { listings: index, operations } = await views.indexed
    data.write('search.index', index)
    data.write('operations.index', operations)
    const search = await timed('search function', () => writeSearchFunction(work, catalogue, begun))
    Object.assign(written.pageCode.files, search.files)
    const madeFrom = { ...written.madeFrom, search_function: search.madeFrom }
    const indexes = { index: describe(index), operations: describe(operations) }
    const rest = { ...written, madeFrom, rows, ...indexes }
    timed('manifest', () => writeManifest(data, { name, catalogue, site: views.site, ...rest }))
    timed('publish', () => publishRelease(outDir, name, work), manifest.length)
  } catch (error) {
    // The thread may still be linking into it.
    await begun.carried
    rmSync(work, { recursive: true, force: true })
    throw error
  }
}

function makeViews(
  catalogue: Catalogue,
  rules: UrlRules,
  { begun, timed }: { begun: BegunRelease; timed: Timed },
) {
  const { cacheDir, code } = begun
  const { baseUrl, tables } = catalogue
  const version = digestOf(JSON.stringify([code, rules, baseUrl, tables]))
  const memory = openMemory(join(cacheDir, 'parts'), version)
  const listings = timed('listings', () => toCompiledListings(catalogue, memory))
  const parts = timed('parts of listings', () => toListingParts(catalogue, listings, memory))
  const indexed = beginIndexes(catalogue, parts, { begun, timed })
  const dump = timed('dump', () => createDump(catalogue.listings, parts.view, memory))
  memory.save()
  const site = timed('site views', () => toCompiledSite(catalogue, dump.facts))
  return { listings, parts, indexed, dump, site }
}

/** Made beside the main thread; what fails is thrown where it is waited for. */
function beginIndexes(
  catalogue: Catalogue,
  { document, operations }: ListingParts,
  { begun: { cacheDir, code }, timed }: { begun: BegunRelease; timed: Timed },
) {
  const rows = { listings: Buffer.concat(document), operations: Buffer.concat(operations) }
  const indexed = timed('search index', () =>
    makeSearchIndexes({ rows, tables: toIndexTables(catalogue), cacheDir, code }),
  )
  indexed.catch(() => undefined)
  return indexed
}

/**
 * What the functions need, for the development server: it renders pages itself, from `compiledDir`,
 * each time one is asked for. Nothing is compressed: there is no distance to travel.
 */
export function buildWithoutPages(options: BuildOptions & { compiledDir: string }): void {
  const { name, content, baseUrl, allowPrivate, ledger, compiledDir } = options
  const outDir = resolve(options.outDir)
  const work = createWorkDir(outDir, name)
  const catalogue = createCatalogue(content, { baseUrl, rules: { allowPrivate }, ledger })
  const listings = toCompiledListings(catalogue)
  const parts = toListingParts(catalogue, listings)
  const dump = createDump(catalogue.listings, parts.view)
  const site = toCompiledSite(catalogue, dump.facts)
  writeCompiled(createReleaseWriter(compiledDir), site, listings)
  const files = createReleaseWriter(join(work, 'public'))
  writeStatic(files, site, listings, { lines: parts.view })
  writeDump(files, dump)
  const data = createReleaseWriter(join(work, 'data'))
  const indexTables = toIndexTables(catalogue)
  const index = toSearchIndex(Buffer.concat(parts.document), indexTables)
  const operations = toSearchIndex(Buffer.concat(parts.operations), indexTables)
  data.write('search.index', index)
  data.write('operations.index', operations)
  writeManifest(data, {
    name,
    catalogue,
    rows: writeRows(data, catalogue, parts),
    site,
    files: describeFiles(join(work, 'public')).map((entry) => ({ entry, copies: null })),
    madeFrom: { code: '', pages: {}, search: [], search_function: '' },
    index: describe(index),
    operations: describe(operations),
    pageCode: { folder: NO_PAGE_CODE, files: {} },
  })
  publishRelease(outDir, name, work)
}

/** Rules for the host that serves the files: nginx, or a static host that reads `_headers` and `_redirects`. */
function writeDeploy(writer: ReleaseWriter, baseUrl: string, files: readonly StaticFile[]): void {
  writer.write('nginx.conf', toNginxRules(baseUrl, files))
  writer.write('_headers', toHeaderRules(baseUrl, files))
  writer.write('_redirects', toRedirectRules(files))
}
