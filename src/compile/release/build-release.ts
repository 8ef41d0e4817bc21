import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TypedFile } from '../../domain/delivery/file-headers.ts'
import type { PrivateTargets } from '../../domain/listing/target-url.ts'
import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'
import type { Content } from '../content/read-content.ts'
import { groupByFolder, toHeaderRules, toRedirectRules, toTelling } from '../deploy/host-rules.ts'
import { toNginxRules } from '../deploy/nginx-rules.ts'
import { type Catalogue, createCatalogue } from '../derive/catalogue.ts'
import {
  makeSearchIndexes,
  toIndexTables,
  toSearchIndex,
  withEnglish,
} from '../engine/write-engine.ts'
import { type Carried, carryOver, NOTHING } from '../files/carry-over.ts'
import { digestCode } from '../files/code-digest.ts'
import { COMPRESSION, describeFiles } from '../files/compress-files.ts'
import { joinBytes } from '../files/in-thread.ts'
import { toManifest } from '../files/manifest.ts'
import { forgetful, type Memory, openMemory, remember } from '../files/memory.ts'
import { createPublicFiles } from '../files/public-files.ts'
import { createReleaseWriter, digestOf } from '../files/release-writer.ts'
import { createStages, type OnStage, type Timed } from '../files/stages.ts'
import { preparePageBundle } from '../pages/page-bundle.ts'
import { toCompiledListings, toCompiledSite, writeCompiled } from '../pages/write-compiled.ts'
import { createDump, writeDump } from './create-dump.ts'
import { writeSearchFunction } from './edge-function.ts'
import { type ListingParts, toListingParts } from './listing-parts.ts'
import { describe } from './page-code.ts'
import {
  createWorkDir,
  isNamed,
  publishRelease,
  readCurrent,
  sparePath,
} from './publish-release.ts'
import { writeManifest, writeRows } from './release-data.ts'
import { createTrustLedger, writeTrustLedger } from './trust-ledger.ts'
import { writePublic } from './write-public.ts'
import { writeStatic } from './write-static.ts'

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
 * or the new one, never a mixture. A build that fails leaves the old one serving.
 *
 * `data/` is what the functions load, `public/` what a CDN serves, `server/` Astro's on-demand pages.
 */
export async function buildRelease(options: BuildOptions & { onStage: OnStage }): Promise<void> {
  const { name } = options
  const outDir = resolve(options.outDir)
  const timed = createStages(options.onStage)
  const current = readCurrent(outDir)
  // One of the same name was looked at to the last byte, and is damaged: nothing of it is used.
  const isUsable = current !== null && !isNamed(current, name)
  const before = isUsable ? join(outDir, 'releases', current) : null
  const work = createWorkDir(outDir, name)
  const [to, spare] = [join(work, 'public'), sparePath(outDir)]
  const carried = carryOver({ from: before, spare, to, compression: COMPRESSION })
  try {
    const context = { ...options, cacheDir: join(outDir, 'cache'), carried, timed }
    const files = await makeRelease(work, context)
    timed('publish', () => publishRelease(outDir, name, work), files)
  } catch (error) {
    // The thread may still be linking into it.
    await carried
    rmSync(work, { recursive: true, force: true })
    throw error
  }
}

interface Context extends BuildOptions {
  /** Folder of what builds leave to later ones. */
  cacheDir: string
  /** What of the release before is linked into this one. */
  carried: Promise<Carried>
  timed: Timed
}

/** @returns how many files it has */
async function makeRelease(work: string, context: Context): Promise<number> {
  const { name, content, baseUrl, allowPrivate, issuer, ledger, cacheDir, carried, timed } = context
  const bundle = preparePageBundle(cacheDir, baseUrl)
  // Told by who waits for it.
  bundle.catch(() => undefined)
  const rules = { allowPrivate }
  const catalogue = timed('derive', () =>
    createCatalogue(content, { baseUrl, rules, issuer, ledger }),
  )
  const version = digestOf(JSON.stringify([digestCode(), rules, issuer, baseUrl, content.tables]))
  const memory = openMemory(join(cacheDir, 'parts'), version)
  const views = makeViews(catalogue, { cacheDir, memory, timed })
  const data = createReleaseWriter(join(work, 'data'))
  // The thread still links what the rest is written beside.
  const rows = timed('data', () => writeRows(data, catalogue, views.parts))
  const written = await writePublic(work, { carried, bundle, memory, ...views, timed })
  timed('deploy', () => writeDeploy(work, baseUrl, { names: written.files.names, memory }))
  const { listings: index, operations } = await views.indexed
  data.write('search.index', index)
  data.write('operations.index', operations)
  const search = await timed('search function', () => writeSearchFunction(work, catalogue, memory))
  Object.assign(written.pageCode.files, search)
  const rest = { ...written, rows, index: describe(index), operations: describe(operations) }
  timed('memory', memory.save)
  timed('manifest', () => writeManifest(data, { name, catalogue, site: views.site, ...rest }))
  return written.files.names.length
}

function makeViews(
  catalogue: Catalogue,
  { cacheDir, memory, timed }: Pick<Context, 'cacheDir' | 'timed'> & { memory: Memory },
) {
  const listings = timed('listings', () => toCompiledListings(catalogue, memory))
  const parts = timed('parts of listings', () => toListingParts(catalogue, listings, memory))
  const indexed = beginIndexes(catalogue, parts, { cacheDir, timed })
  const dump = timed('dump', () => createDump(catalogue.listings, parts.view, memory))
  const trustLedger = timed('trust ledger', () =>
    createTrustLedger(catalogue.ledger.payments, catalogue.trustPayees, memory),
  )
  const site = timed('site views', () => toCompiledSite(catalogue, dump.facts, trustLedger.facts))
  return { listings, parts, indexed, dump, trustLedger, site }
}

/** Made beside the main thread; what fails is thrown where it is waited for. */
function beginIndexes(
  catalogue: Catalogue,
  { document, operations }: ListingParts,
  { cacheDir, timed }: Pick<Context, 'cacheDir' | 'timed'>,
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
 * each time one is asked for. Nothing is compressed: there is no distance to travel.
 */
export function buildWithoutPages(options: BuildOptions & { compiledDir: string }): void {
  const { name, content, baseUrl, allowPrivate, issuer, ledger, compiledDir } = options
  const outDir = resolve(options.outDir)
  const work = createWorkDir(outDir, name)
  const catalogue = createCatalogue(content, { baseUrl, rules: { allowPrivate }, issuer, ledger })
  const listings = toCompiledListings(catalogue)
  const parts = toListingParts(catalogue, listings)
  const dump = createDump(catalogue.listings, parts.view)
  const trustLedger = createTrustLedger(catalogue.ledger.payments, catalogue.trustPayees)
  const site = toCompiledSite(catalogue, dump.facts, trustLedger.facts)
  writeCompiled(createReleaseWriter(compiledDir), site, listings)
  const { write } = createReleaseWriter(join(work, 'public'))
  const files = createPublicFiles(join(work, 'public'), NOTHING, forgetful(), ({ file, bytes }) =>
    write(file, bytes),
  )
  writeStatic(files, site, listings, parts.view)
  writeDump(files, dump)
  writeTrustLedger(files, trustLedger)
  const data = createReleaseWriter(join(work, 'data'))
  const indexTables = toIndexTables(catalogue)
  const index = toSearchIndex('listing', Buffer.concat(parts.document), indexTables)
  const operations = toSearchIndex(
    'operation',
    Buffer.concat(parts.operations),
    withEnglish(indexTables, index),
  )
  data.write('search.index', index)
  data.write('operations.index', operations)
  writeManifest(data, {
    name,
    catalogue,
    rows: writeRows(data, catalogue, parts),
    site,
    files: toManifest(describeFiles(join(work, 'public'))),
    index: describe(index),
    operations: describe(operations),
    pageCode: { folder: NO_PAGE_CODE, files: {} },
  })
  publishRelease(outDir, name, work)
}

/**
 * Rules for the host that serves the files: nginx, or a static host that reads `_headers` and
 * `_redirects`. They hang on the names of the files, which say their types.
 */
function writeDeploy(
  work: string,
  baseUrl: string,
  { names, memory }: { names: readonly string[]; memory: Memory },
): void {
  const telling = [...groupByFolder(names)].flatMap(([folder, names]): TypedFile[] => {
    const make = () => Buffer.from(JSON.stringify(toTelling(names, folder)))
    // JSON.parse is typed `any`; its bytes were written from this very type.
    return JSON.parse(remember(memory, `rules ${names.join('\n')}`, make).toString())
  })
  const files = telling.sort((a, b) => (a.file < b.file ? -1 : 1))
  const writer = createReleaseWriter(join(work, 'deploy'))
  writer.write('nginx.conf', toNginxRules(baseUrl, files))
  writer.write('_headers', toHeaderRules(baseUrl, files))
  writer.write('_redirects', toRedirectRules(files))
}
