import { hash } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { CompiledSite } from '../compiled.ts'
import { formatFault } from '../content/faults.ts'
import { type Content, readContent } from '../content/read.ts'
import { type Catalogue, createCatalogue } from '../derive/catalogue.ts'
import { readPayees } from '../derive/payouts.ts'
import type { LedgerFacts, LedgerPayee, OwnerFacts } from '../domain/trust/ledger-facts.ts'
import { OperatorError } from '../domain/wire/problems.ts'
import { isDumpCopy } from '../domain/wire/static-file.ts'
import { recordChanges } from './changes.ts'
import {
  type Folder,
  findRelease,
  openFolder,
  readCurrent,
  removeLeftovers,
  switchTo,
  WORK,
} from './folder.ts'
import {
  groupByFolder,
  toHeaderFiles,
  toHeaderRules,
  toNginxRules,
  toRedirectRules,
} from './hosts.ts'
import { beginIndexes } from './indexes.ts'
import { digestCode, digestInputs, type Settings } from './inputs.ts'
import { writeTrustLedger } from './lines.ts'
import { type ListingOutput, writeListingFiles } from './listing-files.ts'
import { createOpenApi } from './openapi/create-openapi.ts'
import { writePageSearch } from './page-search.ts'
import { type Pages, startPages } from './pages.ts'
import { writeSearchFunction } from './search-function.ts'
import { drawCards, writeSiteFiles } from './site-files.ts'
import { toCompiledSite, toReleaseFile } from './site-views.ts'

export interface BuildSettings extends Settings {
  outDir: string
  /**
   * What the ledger says to a build.
   *
   * @param payeesOf the owner of each payee by the content; called only where there are payments
   */
  readLedger(payeesOf: (facts: OwnerFacts) => readonly LedgerPayee[]): Promise<LedgerFacts>
  /** For the development server: the folder that its pages read. It renders them itself. */
  compiledDir?: string
  log(line: string): void
}

/**
 * Everything a build does, in order: it reads the content and the ledger, derives, writes one
 * complete folder, and switches one link. A build that fails leaves the old release as it was. The
 * caller holds the lock on `outDir`.
 *
 * @returns the name of the release that is current now
 * @throws OperatorError when the content has errors
 */
export async function build(settings: BuildSettings): Promise<string> {
  const { outDir } = settings
  removeLeftovers(outDir)
  const stage = createStageLog(settings.log)
  const content = createContentReader(settings)
  const ledger = await readLedger(settings, content)
  const digest = digestInputs(settings, ledger)
  const there = findRelease(outDir, digest)
  if (there !== null) return publish(settings, there)
  await using ends = new AsyncDisposableStack()
  const pages =
    settings.compiledDir === undefined
      ? startPages(join(outDir, WORK))
      : shownByAstro(settings.compiledDir)
  ends.defer(pages.end)
  const data = await writeData(settings, { digest, content, ledger, pages, ends, stage })
  if (settings.compiledDir === undefined) collectGarbage()
  await writePages(settings, { ...data, pages })
  stage('pages')
  const { folder, release } = data
  await writeSearchFunction(folder, release, await data.indexes)
  stage('search indexes')
  writeHostRules(folder, release.base_url)
  await folder.finish(release)
  stage(`${folder.names.size} files`)
  return publish(settings, folder.name)
}

/** All that is made while every listing is in memory. Nothing of them stays there: pages need it. */
async function writeData(
  settings: BuildSettings,
  { digest, content, ledger, pages, ends, stage }: Parts,
) {
  const catalogue = derive(settings, content.take(), ledger)
  stage(`read and derived ${catalogue.listings.length} listings`)
  const folder = begin(settings, { digest, catalogue })
  ends.defer(folder.end)
  const indexes = beginIndexes(catalogue)
  ends.defer(indexes.end)
  const { compiledDir } = pages
  const written = await writeListingFiles(catalogue, { folder, indexes, compiledDir })
  const made = indexes.finish()
  // Whoever waits for them reports it.
  made.catch(() => undefined)
  stage('files of listings')
  const site = writeSite({ folder, catalogue, written, pages })
  stage('files of the site')
  const release = toReleaseFile(catalogue, site, digest)
  return { folder, written, site, release, indexes: made }
}

interface Parts {
  digest: string
  content: ReturnType<typeof createContentReader>
  ledger: LedgerFacts
  pages: Pages
  ends: AsyncDisposableStack
  stage: (name: string) => void
}

/** The main thread waits now, and would keep what it does not need any more beside the pages. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect({ flavor: 'last-resort' })
}

/** Reads the content when it is first asked for, and prints what is wrong with it. */
function createContentReader({ contentDir, allowPrivate, asOf, log }: BuildSettings) {
  let known: Content | undefined
  const read = (): Content => {
    if (known !== undefined) return known
    const { content, faults } = readContent(contentDir, { allowPrivate }, asOf)
    for (const fault of faults) log(formatFault(fault, contentDir))
    if (content === null)
      throw new OperatorError(
        'The content has errors, so nothing was built; the previous release is still served.',
      )
    known = content
    return content
  }
  return {
    read,
    /** For the last time: it is not kept. */
    take(): Content {
      const content = read()
      known = undefined
      return content
    },
  }
}

function readLedger(
  settings: BuildSettings,
  content: ReturnType<typeof createContentReader>,
): Promise<LedgerFacts> {
  return settings.readLedger((facts) => readPayees(content.read(), facts, settings.baseUrl))
}

function derive(settings: BuildSettings, content: Content, ledger: LedgerFacts): Catalogue {
  const { baseUrl, allowPrivate, issuer, asOf } = settings
  return createCatalogue(content, { baseUrl, rules: { allowPrivate }, issuer, asOf, ledger })
}

/** A damaged release of the same inputs may be the one that is served: it keeps its name. */
function begin(
  settings: BuildSettings,
  { digest, catalogue }: { digest: string; catalogue: Catalogue },
) {
  const { outDir, baseUrl, allowPrivate, issuer, compiledDir } = settings
  const inputs = [digestCode(), baseUrl, allowPrivate, issuer, catalogue.tables]
  let name = digest
  for (let n = 2; existsSync(join(outDir, 'releases', name)); n += 1) name = `${digest}-${n}`
  const hasCopies = compiledDir === undefined
  return openFolder({ outDir, name, inputs: hash('sha256', JSON.stringify(inputs)), hasCopies })
}

interface Writing {
  folder: Folder
  written: ListingOutput
  pages: Pages
}

/** All that is one view of many listings, for readers and for the pages. */
function writeSite({
  folder,
  catalogue,
  written,
  pages,
}: Writing & { catalogue: Catalogue }): CompiledSite {
  const { ledger, trustPayees, baseUrl } = catalogue
  const trust = writeTrustLedger(folder, ledger, trustPayees)
  const site = toCompiledSite(catalogue, written.dump, trust)
  writeSiteFiles(folder, site, catalogue)
  writeFileSync(join(pages.compiledDir, 'site.json'), JSON.stringify(site))
  const openApi = createOpenApi(baseUrl, site.texts)
  writeFileSync(join(pages.compiledDir, 'openapi.json'), JSON.stringify(openApi))
  writeFileSync(join(pages.compiledDir, 'kept.json'), JSON.stringify(folder.keptPages()))
  return site
}

/** Pages, their cards, and their search in the browser: each in a process or a thread of its own. */
async function writePages(
  { compiledDir }: BuildSettings,
  { folder, site, written, pages }: Writing & { site: CompiledSite },
): Promise<void> {
  if (compiledDir !== undefined) return
  await Promise.all([
    pages.render(folder, site.texts.switches),
    writePageSearch(folder, written.searched),
    drawCards(folder, site),
  ])
}

/** `astro dev` renders pages when they are asked for. */
function shownByAstro(compiledDir: string): Pages {
  mkdirSync(compiledDir, { recursive: true })
  return { compiledDir, render: async () => {}, end: () => {} }
}

/**
 * Rules for the host that serves the files: nginx, or a static host that reads `_headers` and
 * `_redirects`. They depend only on the names of the files, which give their types.
 */
function writeHostRules(folder: Folder, baseUrl: string): void {
  const names = [...folder.names]
    .filter((path) => path.startsWith('public/') && !isDumpCopy(path))
    .map((path) => path.slice('public/'.length))
    .sort()
  const files = [...groupByFolder(names)]
    .flatMap(([place, names]) => toHeaderFiles(names, place))
    .sort((a, b) => (a.file < b.file ? -1 : 1))
  folder.write('deploy/nginx.conf', toNginxRules(baseUrl, files))
  folder.write('deploy/_headers', toHeaderRules(baseUrl, files))
  folder.write('deploy/_redirects', toRedirectRules(files))
}

/** Switches to the release, and logs what changed: a build that was killed left this undone. */
function publish({ outDir, log }: BuildSettings, name: string): string {
  const isSwitched = readCurrent(outDir) !== name
  if (isSwitched) switchTo(outDir, name)
  recordChanges(outDir, name, new Date())
  log(`release ${name} is current`)
  return name
}

/**
 * Prints CPU time too: on a shared machine only that says what a stage costs. It covers the main
 * thread only, not other threads or the processes of Astro and Pagefind.
 */
function createStageLog(log: (line: string) => void) {
  const start = performance.now()
  let before = process.threadCpuUsage()
  return function stage(name: string): void {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    const seconds = ((performance.now() - start) / 1000).toFixed(2).padStart(8)
    log(`${seconds} s ${((user + system) / 1e6).toFixed(2).padStart(8)} s CPU  ${name}`)
  }
}
