import { join, resolve } from 'node:path'
import { digestCode } from '../../build/code-digest.ts'
import {
  groupByFolder,
  toHeaderFiles,
  toHeaderRules,
  toNginxRules,
  toRedirectRules,
} from '../../build/hosts.ts'
import type { Content } from '../../content/read.ts'
import { type Catalogue, createCatalogue } from '../../derive/catalogue.ts'
import type { TypedFile } from '../../domain/delivery/file-headers.ts'
import type { PrivateTargets } from '../../domain/listing/target-url.ts'
import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'
import { isDumpCopy } from '../../domain/wire/static-file.ts'
import { openObjects } from '../../store/objects.ts'
import {
  type Documents,
  makeSearchIndexes,
  toIndexTables,
  toSearchIndex,
  withEnglish,
} from '../engine/write-engine.ts'
import { type BuildCache, memoize, noCache, openBuildCache } from '../files/build-cache.ts'
import { createReleaseFiles, type ReleaseFiles } from '../files/release-files.ts'
import { createReleaseWriter, digestOf, splitRows } from '../files/release-writer.ts'
import { createStages, type OnStage, type Timed } from '../files/stages.ts'
import { preparePageBundle } from '../pages/page-bundle.ts'
import type { ShownPage } from '../pages/page-indexes.ts'
import {
  type LazyListing,
  toCompiledListings,
  toCompiledSite,
  writeCompiled,
} from '../pages/write-compiled.ts'
import { writeSearchFunction } from './edge-function.ts'
import { groupListings, toGroupParts } from './listing-parts.ts'
import { publishRelease } from './publish-release.ts'
import { beginRows, toReleaseFile } from './release-data.ts'
import { beginDump } from './write-dump.ts'
import { writePageCode, writePublic } from './write-public.ts'
import { writeListings, writeStatic } from './write-static.ts'
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
  /** `AS_OF` */
  asOf: string
  ledger: LedgerFacts
}

/** Folder of the page code for a release without any. */
const NO_PAGE_CODE = `server/${'0'.repeat(32)}`

/**
 * Builds a release and publishes it by switching one link, so that a reader sees the old release
 * or the new one, never a mixture. A build that fails leaves the old one serving: what it wrote are
 * objects that nobody names.
 *
 * @param known names of existing objects
 */
export async function buildRelease(
  options: BuildOptions & { onStage: OnStage; known: Set<string> },
): Promise<void> {
  const outDir = resolve(options.outDir)
  const timed = createStages(options.onStage)
  // All that it was made of is free by then: with 100,000 listings a gigabyte.
  const { objects, release, files } = await makeRelease(options, outDir, timed)
  timed('publish', () => publishRelease(outDir, objects, release, files), files.length)
}

/** Writes all objects of a release. */
async function makeRelease(
  options: BuildOptions & { known: Set<string> },
  outDir: string,
  timed: Timed,
) {
  const { name, content, baseUrl, allowPrivate, issuer, asOf, ledger, known } = options
  const cacheDir = join(outDir, 'cache')
  const bundle = preparePageBundle(cacheDir)
  // Reported by the code that waits for it.
  bundle.catch(() => undefined)
  const rules = { allowPrivate }
  const catalogue = timed('derive', () =>
    createCatalogue(content, { baseUrl, rules, issuer, asOf, ledger }),
  )
  const version = digestOf(JSON.stringify([digestCode(), rules, issuer, baseUrl, content.tables]))
  const cache = openBuildCache(join(cacheDir, 'parts'), version)
  const objects = openObjects(outDir, known)
  const files = createReleaseFiles(objects, cache)
  const [data, functions] = [files.in('data'), files.in('functions')]
  const shown = files.in('public')
  const listings = timed('listings', () => toCompiledListings(catalogue))
  const written = timed('files of listings', () =>
    writeGroups(catalogue, listings, { data, shown, cache }),
  )
  const indexed = beginIndexes(catalogue, written.documents, { cacheDir, timed })
  const trustLedger = timed('trust ledger', () =>
    writeTrustLedger(shown, catalogue.ledger.payments, catalogue.trustPayees, cache),
  )
  const site = timed('site views', () => toCompiledSite(catalogue, written.dump, trustLedger))
  await writePublic(shown, { bundle, site, listings, searched: written.searched, timed })
  const pageCode = writePageCode(files.in('server'), await bundle)
  timed('deploy', () => writeDeploy(files, baseUrl, cache))
  const { listings: index, operations } = await indexed
  data.write('search.index', index)
  data.write('operations.index', operations)
  await timed('search function', () => writeSearchFunction({ functions, data }, catalogue, cache))
  timed('cache', cache.close)
  return {
    objects,
    release: toReleaseFile(catalogue, site, { name, pageCode }),
    files: files.list(),
  }
}

/** Writes all that is made of each listing by itself but its page, and gives what is made of all of them. */
function writeGroups(
  catalogue: Catalogue,
  listings: readonly LazyListing[],
  { data, shown, cache }: { data: ReleaseFiles; shown: ReleaseFiles; cache?: BuildCache },
) {
  const rows = beginRows(data, catalogue)
  const dump = beginDump(shown, cache)
  const documents: Documents = { listings: [], operations: [] }
  const searched: ShownPage[] = []
  for (const group of groupListings(listings)) {
    const parts = toGroupParts(catalogue, group, cache)
    rows.add(group, parts)
    dump.write(parts('view'))
    writeListings(shown, group, parts('view'), catalogue.tables.site.short_name)
    documents.listings.push(new Uint8Array(parts('document')))
    documents.operations.push(new Uint8Array(parts('operations')))
    // Our own kits, which have no such page, never stand among the results.
    const outside = group.listings.filter(({ derived }) => !derived.facts.first_party)
    for (const [at, row] of splitRows(Buffer.from(parts('page'))).entries())
      searched.push({ id: outside[at]?.id ?? '', row })
  }
  rows.finish()
  return { documents, searched, dump: dump.finish() }
}

/** Made off the main thread; failures are thrown where it is awaited. */
function beginIndexes(
  catalogue: Catalogue,
  documents: Documents,
  { cacheDir, timed }: { cacheDir: string; timed: Timed },
) {
  const tables = toIndexTables(catalogue)
  const indexed = timed('search index', () =>
    makeSearchIndexes({ documents, tables, cacheDir, code: digestCode() }),
  )
  indexed.catch(() => undefined)
  return indexed
}

/**
 * What the functions need, for the development server: it renders pages itself, from `compiledDir`,
 * each time one is requested. Nothing is compressed: it stays on this machine.
 */
export function buildWithoutPages(options: BuildOptions & { compiledDir: string }): void {
  const { name, content, baseUrl, allowPrivate, issuer, asOf, ledger, compiledDir } = options
  const outDir = resolve(options.outDir)
  const rules = { allowPrivate }
  const catalogue = createCatalogue(content, { baseUrl, rules, issuer, asOf, ledger })
  const listings = toCompiledListings(catalogue)
  const objects = openObjects(outDir, new Set())
  const files = createReleaseFiles(objects, noCache())
  const [data, shown] = [files.in('data'), files.in('public')]
  const { documents, dump } = writeGroups(catalogue, listings, { data, shown })
  const trustLedger = writeTrustLedger(shown, catalogue.ledger.payments, catalogue.trustPayees)
  const site = toCompiledSite(catalogue, dump, trustLedger)
  writeCompiled(createReleaseWriter(compiledDir), site, listings)
  writeStatic(shown, site, listings)
  const tables = toIndexTables(catalogue)
  const index = toSearchIndex('listing', documents.listings, tables)
  const operations = toSearchIndex('operation', documents.operations, withEnglish(tables, index))
  data.write('search.index', index)
  data.write('operations.index', operations)
  const release = toReleaseFile(catalogue, site, { name, pageCode: NO_PAGE_CODE })
  publishRelease(outDir, objects, release, files.list())
}

/**
 * Rules for the host that serves the files: nginx, or a static host that reads `_headers` and
 * `_redirects`. They depend only on the names of the files, which give their types.
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
