import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { formatFault } from '../content/faults.ts'
import { type Content, readContent } from '../content/read.ts'
import { type Catalogue, createCatalogue } from '../derive/catalogue.ts'
import { readPayees } from '../derive/payouts.ts'
import type { LedgerFacts, LedgerPayee, OwnerFacts } from '../domain/trust/ledger-facts.ts'
import { OperatorError } from '../domain/wire/problems.ts'
import { findContentType, isDumpCopy } from '../domain/wire/published-files.ts'
import { collectGarbage } from './astro-build.ts'
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
import { toHeaderRules, toNginxRules, toRedirectRules } from './hosts.ts'
import { beginIndexes, writeSearchFunction } from './indexes.ts'
import { digestCode, digestInputs, type Settings } from './inputs.ts'
import { writeListingFiles } from './listing-files.ts'
import { beginPageSearch } from './page-search.ts'
import { type Pages, startPages } from './pages.ts'
import { drawCards, toReleaseFile, writeSite, writeSiteFiles } from './site-files.ts'

interface BuildSettings extends Settings {
  outDir: string
  /**
   * Reads what a build needs from the ledger.
   * @param payeesOf a function that finds the owner of each payee; called only if there are payments
   */
  readLedger(payeesOf: (facts: OwnerFacts) => readonly LedgerPayee[]): Promise<LedgerFacts>
  /**
   * For the development server, which renders pages on request: with this set, a build makes no pages. Called
   * with the folder as soon as pages can be rendered from it; the build goes on when this resolves.
   * The folder gets its final name only when the build ends.
   */
  onData?: (folder: string) => Promise<void> | void
  log(line: string): void
}

/**
 * The whole build, in order: it reads the content and the ledger, derives, writes one complete
 * folder, and switches one link. A build that fails leaves the old release as it was. The caller
 * holds the lock on `outDir`.
 * @returns the name of the release that is now current
 * @throws OperatorError if the content has errors
 */
export async function build(settings: BuildSettings): Promise<string> {
  const { outDir } = settings
  removeLeftovers(outDir)
  await using ends = new AsyncDisposableStack()
  const stage = createStageLog(settings.log)
  const begin = () => ends.adopt(startPages(join(outDir, WORK)), (pages) => pages.end())
  // Without a release there is certainly something to build, so pages are bundled from the start.
  const hasPages = settings.onData === undefined
  const early = hasPages && readCurrent(outDir) === null ? begin() : null
  const content = createContentReader(settings)
  const ledger = await settings.readLedger((facts) =>
    readPayees(content.read(), facts, settings.baseUrl),
  )
  const digest = digestInputs(settings, ledger)
  const there = findRelease(outDir, digest)
  if (there !== null) {
    await settings.onData?.(join(outDir, 'releases', there))
    return publish(settings, there)
  }
  const pages = hasPages ? (early ?? begin()) : null
  const data = await writeData(settings, { digest, content, ledger, ends, stage })
  if (pages !== null) {
    collectGarbage()
    await writePages(pages, data)
    stage('pages')
  }
  const { folder, release } = data
  await data.indexes
  stage('search indexes')
  writeHostRules(folder, release.base_url)
  await folder.finish(release)
  stage(`${folder.names.size} files`)
  return publish(settings, folder.name)
}

/** Makes everything that needs all listings in memory, then frees them: rendering needs the memory. */
async function writeData(settings: BuildSettings, { digest, content, ledger, ends, stage }: Parts) {
  const { baseUrl, allowPrivate, issuer, asOf } = settings
  const context = { baseUrl, rules: { allowPrivate }, issuer, asOf, ledger }
  const catalogue = createCatalogue(content.take(), context)
  stage(`read and derived ${catalogue.listings.length} listings`)
  const folder = beginFolder(settings, { digest, catalogue })
  ends.defer(folder.end)
  // If pages wait for the data, the search indexes are made afterwards.
  const hasPages = settings.onData === undefined
  const indexes = beginIndexes(folder, catalogue.tables, !hasPages)
  let written: Promise<void> | undefined
  ends.defer(async () => {
    await indexes.end()
    // Nothing may be written into the folder once it is removed. Whoever awaits `written` reports its error.
    await written?.catch(() => undefined)
  })
  const pageSearch = hasPages ? beginPageSearch(folder, catalogue) : null
  const made = await writeListingFiles(catalogue, { folder, indexes, pageSearch })
  stage('files of listings')
  const site = writeSite(folder, catalogue, made)
  await settings.onData?.(folder.root)
  writeSiteFiles(folder, site, catalogue)
  stage('files of the site')
  written = indexes.finish()
  written.catch(() => undefined)
  const release = toReleaseFile(catalogue, site, digest)
  return { folder, pageSearch, site, release, indexes: written }
}

interface Parts {
  digest: string
  content: ReturnType<typeof createContentReader>
  ledger: LedgerFacts
  ends: AsyncDisposableStack
  stage: (name: string) => void
}

/** Reads the content when it is first requested, and prints what is wrong with it. */
function createContentReader({ contentDir, allowPrivate, asOf, log }: BuildSettings) {
  let known: Content | undefined
  const read = (): Content => {
    if (known !== undefined) return known
    const { content, faults } = readContent(contentDir, { allowPrivate }, asOf)
    for (const fault of faults) log(formatFault(fault, contentDir))
    if (content === null)
      throw new OperatorError(
        'The content has errors, so nothing was built. The previous release is still served.',
      )
    known = content
    return content
  }
  return {
    read,
    /** Returns the content for the last time and forgets it. */
    take(): Content {
      const content = read()
      known = undefined
      return content
    },
  }
}

/** Gives the new release another name if the served one has the same inputs but may be damaged. */
function beginFolder(
  settings: BuildSettings,
  { digest, catalogue }: { digest: string; catalogue: Catalogue },
) {
  const { outDir, baseUrl, allowPrivate, issuer, onData } = settings
  const inputs = [digestCode(), baseUrl, allowPrivate, issuer, catalogue.tables]
  let name = digest
  for (let n = 2; existsSync(join(outDir, 'releases', name)); n += 1) name = `${digest}-${n}`
  const digested = hash('sha256', JSON.stringify(inputs))
  return openFolder({ outDir, name, inputs: digested, hasCopies: onData === undefined })
}

/** Writes pages, link cards, and the search for browsers and for a function host, all at the same time. */
async function writePages(
  pages: Pages,
  { folder, site, pageSearch, release, indexes }: Awaited<ReturnType<typeof writeData>>,
): Promise<void> {
  await Promise.all([
    pages.render(folder, site.texts.switches),
    // One thread after the other: running both while pages are made would take a tenth more memory.
    indexes.then(pageSearch?.finish),
    drawCards(folder, site),
    writeSearchFunction(folder, release),
  ])
}

/**
 * Rules for the host that serves the files: nginx, or a static host that reads `_headers` and
 * `_redirects`. They depend only on the files' names, which determine their types.
 */
function writeHostRules(folder: Folder, baseUrl: string): void {
  const files = [...folder.names]
    .filter((path) => path.startsWith('public/') && !isDumpCopy(path))
    .map((path) => path.slice('public/'.length))
    .sort()
    .map((file) => ({ file, type: findContentType(file) }))
  folder.write('deploy/nginx.conf', toNginxRules(baseUrl, files))
  folder.write('deploy/_headers', toHeaderRules(baseUrl, files))
  folder.write('deploy/_redirects', toRedirectRules(files))
}

/**
 * Switches to the release and logs what changed. Runs even if nothing was built: a killed build may
 * not have got here.
 */
function publish({ outDir, log }: BuildSettings, name: string): string {
  switchTo(outDir, name)
  recordChanges(outDir, name, new Date())
  log(`release ${name} is current`)
  return name
}

/**
 * Prints CPU time too, the only measure of a stage's cost on a shared machine. It covers only the
 * main thread, not other threads or the processes of Astro and Pagefind.
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
