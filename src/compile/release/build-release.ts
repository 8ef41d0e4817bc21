import { join, resolve } from 'node:path'
import type { TypedFile } from '../../domain/delivery/file-headers.ts'
import type { PrivateTargets } from '../../domain/listing/target-url.ts'
import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'
import { isDumpCopy } from '../../domain/wire/static-file.ts'
import { openObjects } from '../../store/objects.ts'
import type { Content } from '../content/read-content.ts'
import {
  groupByFolder,
  toHeaderFiles,
  toHeaderRules,
  toRedirectRules,
} from '../deploy/host-rules.ts'
import { toNginxRules } from '../deploy/nginx-rules.ts'
import { type Catalogue, createCatalogue } from '../derive/catalogue.ts'
import {
  makeSearchIndexes,
  toIndexTables,
  toSearchIndex,
  withEnglish,
} from '../engine/write-engine.ts'
import { type BuildCache, memoize, noCache, openBuildCache } from '../files/build-cache.ts'
import { digestCode } from '../files/code-digest.ts'
import { joinBytes } from '../files/in-thread.ts'
import { createReleaseFiles, type ReleaseFiles } from '../files/release-files.ts'
import { createReleaseWriter, digestOf } from '../files/release-writer.ts'
import { createStages, type OnStage, type Timed } from '../files/stages.ts'
import { preparePageBundle } from '../pages/page-bundle.ts'
import { toCompiledListings, toCompiledSite, writeCompiled } from '../pages/write-compiled.ts'
import { writeSearchFunction } from './edge-function.ts'
import { type ListingParts, toListingParts } from './listing-parts.ts'
import { publishRelease } from './publish-release.ts'
import { toReleaseFile, writeRows } from './release-data.ts'
import { writeDump } from './write-dump.ts'
import { writePageCode, writePublic } from './write-public.ts'
import { writeStatic } from './write-static.ts'
import { writeTrustLedger } from './write-trust-ledger.ts'

export interface BuildOptions {
  /** Name of the release, by its inputs (`nameRelease`). */
  name: string
  content: Content
  outDir: string
  baseUrl: string
  allowPrivate: PrivateTargets
  /** `OIDC_ISSUER` */
  issuer: string
  ledger: LedgerFacts
}

/** Folder of the page code of a release that has none. */
const NO_PAGE_CODE = `server/${'0'.repeat(32)}`

/**
 * Builds a release and publishes it by switching one link, so that a reader sees the old release
 * or the new one, never a mixture. A build that fails leaves the old one serving: what it wrote are
 * objects that nobody names.
 *
 * @param known names of objects that are there
 */
export async function buildRelease(
  options: BuildOptions & { onStage: OnStage; known: Set<string> },
): Promise<void> {
  const { name, content, baseUrl, allowPrivate, issuer, ledger, known } = options
  const outDir = resolve(options.outDir)
  const timed = createStages(options.onStage)
  const cacheDir = join(outDir, 'cache')
  const bundle = preparePageBundle(cacheDir)
  // Told by who waits for it.
  bundle.catch(() => undefined)
  const rules = { allowPrivate }
  const catalogue = timed('derive', () =>
    createCatalogue(content, { baseUrl, rules, issuer, ledger }),
  )
  const version = digestOf(JSON.stringify([digestCode(), rules, issuer, baseUrl, content.tables]))
  const cache = openBuildCache(join(cacheDir, 'parts'), version)
  const objects = openObjects(outDir, known)
  const files = createReleaseFiles(objects, cache)
  const [data, functions] = [files.in('data'), files.in('functions')]
  const shown = files.in('public')
  const views = makeViews(catalogue, { cacheDir, cache, timed, shown })
  timed('data', () => writeRows(data, catalogue, views.parts))
  forgetRows(views.parts)
  await writePublic(shown, { bundle, ...views, timed })
  const pageCode = writePageCode(files.in('server'), await bundle)
  timed('deploy', () => writeDeploy(files, baseUrl, cache))
  const { listings: index, operations } = await views.indexed
  data.write('search.index', index)
  data.write('operations.index', operations)
  await timed('search function', () => writeSearchFunction({ functions, data }, catalogue, cache))
  timed('cache', cache.close)
  const release = toReleaseFile(catalogue, views.site, { name, pageCode })
  const list = files.list()
  timed('publish', () => publishRelease(outDir, objects, release, list), list.length)
}

function makeViews(
  catalogue: Catalogue,
  {
    cacheDir,
    cache,
    timed,
    shown,
  }: { cacheDir: string; cache: BuildCache; timed: Timed; shown: ReleaseFiles },
) {
  const listings = timed('listings', () => toCompiledListings(catalogue, cache))
  const parts = timed('parts of listings', () => toListingParts(catalogue, listings, cache))
  for (const [place, line] of parts.view.entries()) listings[place]?.recall(line)
  const indexed = beginIndexes(catalogue, parts, { cacheDir, timed })
  const dump = timed('dump', () => writeDump(shown, catalogue.listings, parts.view, cache))
  const trustLedger = timed('trust ledger', () =>
    writeTrustLedger(shown, catalogue.ledger.payments, catalogue.trustPayees, cache),
  )
  const site = timed('site views', () => toCompiledSite(catalogue, dump, trustLedger))
  return { listings, parts, indexed, site }
}

/** Those that are in their files. What is left with 15,000 listings takes a third of 200 MiB. */
function forgetRows({ view: _, page: __, ...written }: ListingParts): void {
  for (const rows of Object.values(written)) rows.length = 0
}

/** Made beside the main thread; what fails is thrown where it is waited for. */
function beginIndexes(
  catalogue: Catalogue,
  { document, operations }: ListingParts,
  { cacheDir, timed }: { cacheDir: string; timed: Timed },
) {
  const rows = { listings: joinBytes(document), operations: joinBytes(operations) }
  const indexed = timed('search index', () =>
    makeSearchIndexes({ rows, tables: toIndexTables(catalogue), cacheDir, code: digestCode() }),
  )
  indexed.catch(() => undefined)
  return indexed
}

/**
 * What the functions need, for the development server: it renders pages itself, from `compiledDir`,
 * each time one is asked for. Nothing is compressed: it does not travel.
 */
export function buildWithoutPages(options: BuildOptions & { compiledDir: string }): void {
  const { name, content, baseUrl, allowPrivate, issuer, ledger, compiledDir } = options
  const outDir = resolve(options.outDir)
  const catalogue = createCatalogue(content, { baseUrl, rules: { allowPrivate }, issuer, ledger })
  const listings = toCompiledListings(catalogue)
  const parts = toListingParts(catalogue, listings)
  const objects = openObjects(outDir, new Set())
  const files = createReleaseFiles(objects, noCache())
  const [data, shown] = [files.in('data'), files.in('public')]
  const dump = writeDump(shown, catalogue.listings, parts.view)
  const trustLedger = writeTrustLedger(shown, catalogue.ledger.payments, catalogue.trustPayees)
  const site = toCompiledSite(catalogue, dump, trustLedger)
  writeCompiled(createReleaseWriter(compiledDir), site, listings)
  writeStatic(shown, site, listings, parts.view)
  writeRows(data, catalogue, parts)
  const indexTables = toIndexTables(catalogue)
  const index = toSearchIndex('listing', Buffer.concat(parts.document), indexTables)
  const operations = toSearchIndex(
    'operation',
    Buffer.concat(parts.operations),
    withEnglish(indexTables, index),
  )
  data.write('search.index', index)
  data.write('operations.index', operations)
  const release = toReleaseFile(catalogue, site, { name, pageCode: NO_PAGE_CODE })
  publishRelease(outDir, objects, release, files.list())
}

/**
 * Rules for the host that serves the files: nginx, or a static host that reads `_headers` and
 * `_redirects`. They hang on the names of the files, which say their types.
 */
function writeDeploy(
  release: ReturnType<typeof createReleaseFiles>,
  baseUrl: string,
  cache: BuildCache,
): void {
  const names = release
    .in('public')
    .names()
    .filter((file) => !isDumpCopy(file))
  const telling = [...groupByFolder(names)].flatMap(([folder, names]): TypedFile[] => {
    const make = () => Buffer.from(JSON.stringify(toHeaderFiles(names, folder)))
    // JSON.parse is typed `any`; its bytes were written from this very type.
    return JSON.parse(memoize(cache, `rules ${names.join('\n')}`, make).toString())
  })
  const files = telling.sort((a, b) => (a.file < b.file ? -1 : 1))
  const deploy = release.in('deploy')
  deploy.write('nginx.conf', toNginxRules(baseUrl, files))
  deploy.write('_headers', toHeaderRules(baseUrl, files))
  deploy.write('_redirects', toRedirectRules(files))
}
