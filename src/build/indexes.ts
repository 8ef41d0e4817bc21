import { hash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { build, type Plugin, stop } from 'esbuild'
import type { Catalogue } from '../derive/catalogue.ts'
import {
  type DerivedListing,
  tasksOf,
  trustScoreOf,
  verifiedBuyersOf,
} from '../domain/derived/derived-listing.ts'
import type { ReleaseFile, Tables } from '../domain/derived/tables.ts'
import type { OperationEntry } from '../domain/kit/found-operations.ts'
import {
  highestPriceOf,
  isFree,
  listedPriceOf,
  networksOf,
  railsOf,
} from '../domain/listing/pricing.ts'
import { ownDomainOf } from '../domain/sellers/claim-rules.ts'
import { mostReported } from '../domain/trust/evidence.ts'
import type { TrustVerdict } from '../domain/trust/trust.ts'
import { toKnownDays, toPaidWords, toSeenPricing, toWarning } from '../domain/views/known-view.ts'
import { sourceIdsOf, toPreparedSummary } from '../domain/views/listing-view.ts'
import { largestOf } from '../domain/wire/json.ts'
import { DISCOVERY_FILES, hasRemoteEndpoint, runsOf } from '../domain/wire/vocabulary.ts'
import { type OperationPart, type SearchDocument, toBody } from '../search/index/search-document.ts'
import type { Folder } from './folder.ts'
import type { IndexedListing, IndexWork } from './index-thread.ts'
import { digestCode, PROJECT } from './inputs.ts'

/** A line for each listing with its indexed document: the indexes are made from these lines. */
export const INDEXED = 'data/indexed.ndjson'

/** The server's own indexes; a function host gets both too. */
const INDEXES = { listing: 'search.index', operation: 'operations.index' }

/**
 * Both indexes are made in a thread while other parts of a release are made. The thread reads the listings'
 * lines from the disk, so that they don't wait in memory, and writes the indexes there.
 * @param isLate whether the thread begins when all lines are written
 */
export function beginIndexes(
  folder: Pick<Folder, 'root' | 'names' | 'link'>,
  tables: Tables,
  isLate: boolean,
) {
  let thread: ReturnType<typeof startThread> | undefined
  let ends: number[] = []
  let end = 0
  const flush = () => {
    thread ??= startThread(folder.root, tables)
    for (const each of ends) thread.post(each)
    ends = []
    return thread
  }
  return {
    /** @param lines the next lines of the listings' file, already written */
    add(lines: Uint8Array): void {
      end += lines.length
      ends.push(end)
      if (!isLate) flush()
    },
    /** @throws Error naming the listing that cannot be indexed */
    async finish(): Promise<void> {
      const { post, ended } = flush()
      post(null)
      await ended
      for (const file of Object.values(INDEXES)) {
        folder.names.add(`data/${file}`)
        folder.link(`functions/search/${file}`, `data/${file}`)
      }
    },
    /** Ends the thread, whatever it was doing. */
    end: async () => void (await thread?.end()),
  }
}

function startThread(root: string, tables: Tables) {
  const workerData: IndexWork = {
    tables,
    listings: join(root, INDEXED),
    files: {
      listing: join(root, 'data', INDEXES.listing),
      operation: join(root, 'data', INDEXES.operation),
    },
  }
  const worker = new Worker(new URL('./index-thread.ts', import.meta.url), {
    workerData,
    // Most young objects in this thread are soon garbage: the default would reserve three times as much memory.
    resourceLimits: { maxYoungGenerationSizeMb: 16 },
  })
  const ended = once(worker, 'exit').then(([code]) => {
    if (code !== 0)
      throw new Error(`the search index thread exited with code ${code} before it finished`)
  })
  ended.catch(() => undefined)
  const post = (end: number | null) => worker.postMessage(end)
  return { post, ended, end: () => worker.terminate() }
}

/** The documents by which a listing and its operations are indexed. */
export function toIndexedListing(
  listing: DerivedListing,
  entries: readonly OperationEntry[],
  directory: Directory,
): IndexedListing {
  const document = toSearchDocument(listing, directory)
  return { document, operations: toOperationParts(listing, document, entries) }
}

/** A listing's operations, which are found by their own words and by the listing's. */
export function toOperationParts(
  listing: DerivedListing,
  document: SearchDocument,
  entries: readonly OperationEntry[],
): OperationPart[] {
  const labels = [document.name, ...document.tags, ...document.categories]
  return entries.map((entry, at) => {
    const id = `${document.id}~${at}`
    const { names, description, offers, minUsd, effect, slots } = entry
    const { listing: shown, operation } = entry.found
    return {
      id,
      name: names[0] ?? document.name,
      rails: [...entry.rails],
      networks: [...entry.networks],
      tasks: entry.task === undefined ? [] : [entry.task],
      offers: offers.map(({ rail, network, min_usd }) => ({
        rail,
        ...(network !== undefined && { network }),
        minUsd: min_usd,
      })),
      ...(effect !== null && { effect }),
      minUsd: minUsd ?? (isFree(listing.facts) ? 0 : null),
      texts: { name: names, labels, summary: [description] },
      body: JSON.stringify({ id, listing: shown, digest: listing.digest, slots, operation }),
    }
  })
}

/** A directory's address, and who owns its listings' hosts. */
interface Directory {
  baseUrl: string
  tables: Pick<Tables, 'sharedHosts'>
  sources: Catalogue['sources']
}

export function toSearchDocument(
  listing: DerivedListing,
  { baseUrl, tables, sources }: Directory,
): SearchDocument {
  const { id, facts, trust } = listing
  const domain = ownDomainOf(facts.url, tables.sharedHosts)
  return {
    id,
    name: facts.name,
    kind: facts.kind,
    summary: facts.summary,
    url: facts.url,
    ...(domain !== null && { domain }),
    tags: facts.tags,
    categories: facts.categories,
    rails: [...railsOf(facts.pricing)],
    sources: sourceIdsOf(listing),
    has: DISCOVERY_FILES.filter((file) => facts.discovery[file] !== undefined),
    ...toPrices(listing),
    auth: facts.auth.type,
    runs: runsOf(facts),
    networks: [...networksOf(facts.pricing)],
    tasks: tasksOf(listing),
    operations: operationTexts(listing),
    call: listing.buy.buy === 'relay_x402',
    added: facts.added,
    ...toPaidFacts(listing, sources),
    trustScore: trustScoreOf(trust),
    vouched: isVouched(trust),
    warning: toWarning(listing),
    verifiedBuyers: verifiedBuyersOf(trust),
    liveTested: listing.isLiveTested,
    remote: hasRemoteEndpoint(facts),
    firstParty: facts.first_party,
    body: toBody(toPreparedSummary(listing, baseUrl)),
  }
}

function operationTexts({ surface: { tools, skills, operations } }: DerivedListing): string[] {
  return [
    ...[...tools, ...skills].flatMap(({ name, description }) => [name, description]),
    ...operations.flatMap(({ url, description = '' }) => [new URL(url).pathname, description]),
  ]
}

/** The listed price range, or the range up to the price that a probe saw, if that price is higher. */
function toPrices(listing: DerivedListing) {
  const pricing = toSeenPricing(listing)
  return {
    minUsd: listedPriceOf({ ...listing.facts, pricing }),
    maxUsd: highestPriceOf(pricing),
  }
}

/** Facts about a listing's payments and answers by which a search filters and sorts, and which its rows show. */
function toPaidFacts(listing: DerivedListing, sources: Catalogue['sources']) {
  const { evidence, trust } = listing
  const { answered, paid: lastPaid } = toKnownDays(listing, sources)
  const measured =
    trust.evidence === 'verified_non_wash_payments' ? trust.measured.settlements_30d : undefined
  const counts = [measured, mostReported('settlements', evidence.reported_use)]
  const known = counts.filter((count) => count !== undefined)
  const paid = toPaidWords(listing, sources)
  return {
    reportedCalls: mostReported('calls', evidence.reported_use),
    ...(known.length > 0 && { settlements: largestOf(known) }),
    ...{ answered, lastPaid },
    ...(paid !== null && { paid }),
  }
}

const PACKAGE = `${JSON.stringify({ type: 'module', main: 'search.js' })}\n`

/** Writes the search for a function host next to the indexes: one code file. */
export async function writeSearchFunction(
  folder: Folder,
  { base_url, texts, also_search, tasks }: Repeated,
): Promise<void> {
  const input = { base_url, texts, also_search, tasks }
  const file = 'functions/search/search.js'
  if (!folder.reuse(file, hash('sha256', JSON.stringify([digestCode(), input]))))
    folder.write(file, await bundleSearch(input))
  // Without this file Node takes the ES module for CommonJS, wherever the folder is copied.
  folder.write('functions/search/package.json', PACKAGE)
}

/** Parts of the release file that are also parts of answers. */
type Repeated = Pick<ReleaseFile, 'base_url' | 'texts' | 'also_search' | 'tasks'>

/**
 * The search as one file for a function host: an ES module that exports `{ fetch(request, env) }`
 * and has no import left. It needs nothing from Node, so it lacks the server's compression.
 */
async function bundleSearch(release: Repeated): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [join(PROJECT, 'functions/edge/edge-function.ts')],
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2023',
    logLevel: 'silent',
    absWorkingDir: PROJECT,
    define: { RELEASE: JSON.stringify(release) },
    plugins: [WITHOUT_EFFECTS],
  })
  await stop()
  const [bundle] = outputFiles
  if (bundle === undefined) throw new Error('esbuild made no file for the search function')
  return bundle.contents
}

/** Importing one of our modules has no side effects, so an unused module is left out, with its packages. */
const WITHOUT_EFFECTS: Plugin = {
  name: 'without-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^\.\.?\// }, async ({ path, pluginData, ...place }) => {
      if (pluginData === WITHOUT_EFFECTS || place.importer.includes('/node_modules/')) return null
      return {
        ...(await resolve(path, { ...place, pluginData: WITHOUT_EFFECTS })),
        sideEffects: false,
      }
    })
  },
}

/** Whether the score rests on buyers whom an independent seller vouches for. */
function isVouched(trust: TrustVerdict): boolean {
  return trust.evidence === 'verified_non_wash_payments' && trust.isVouched
}
