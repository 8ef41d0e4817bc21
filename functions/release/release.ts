import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readlinkSync, readSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'
import * as v from 'valibot'
import type { CompareRow } from '../../src/domain/compare/compare-view.ts'
import type { DeclaredRow } from '../../src/domain/derived/derived-listing.ts'
import { type ReleaseFile, ReleaseFileSchema } from '../../src/domain/derived/tables.ts'
import {
  GoneSchema,
  LiveListingSchema,
  OptedOutListingSchema,
} from '../../src/domain/listing/listing-states.ts'
import { createNearestIds } from '../../src/domain/listing/listing-text.ts'
import type { TaskSeller } from '../../src/domain/plans/task-plan.ts'
import type { ProbePlan } from '../../src/domain/probe/plan.ts'
import type { ArdRow } from '../../src/domain/protocols/cards.ts'
import type { RegistryRow, ResourceRow } from '../../src/domain/protocols/registry-entry.ts'
import { createFindNotListed } from '../../src/domain/sellers/not-listed.ts'
import type { Task } from '../../src/domain/tasks/task.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import {
  type BodyStore,
  INDEX_HEADER_BYTES,
  loadSearchIndex,
  loadSearchIndexHead,
  readIndexHeader,
  type SearchIndex,
  SearchIndexError,
  verifyBodies,
  verifyLength,
} from '../../src/search/index/index-file.ts'
import { createProblems } from '../http/answers.ts'
import type { Log } from '../ports/log.ts'
import { createFailureReport, type ReportFailure } from '../server/node-answers.ts'
import { createStaticFiles } from '../static/static-files.ts'
import { prepareTexts } from './prepare-texts.ts'

/** One published build, as the live functions see it. Immutable: a new build is a new Release. */
export type Release = Awaited<ReturnType<typeof loadRelease>>

/**
 * Loads and verifies a release by its name, in short steps.
 * @throws OperatorError if the release is damaged, is of another version, or was built with another
 *   `BASE_URL`, which would make its absolute URLs wrong
 */
async function loadRelease(
  name: string,
  { outDir, baseUrl, report }: { outDir: string; baseUrl: string; report: ReportFailure },
) {
  const folder = join(outDir, 'releases', name)
  const file = await readReleaseFile(join(folder, 'release.json'))
  if (file.base_url !== baseUrl)
    throw new OperatorError(
      `BASE_URL is ${baseUrl}, but the release ${name} in ${outDir} was built with ${file.base_url}: build again with ${baseUrl}, or start with ${file.base_url}`,
    )
  const read = createReader(folder, file)
  const listings = await readChecked(read, 'data/listings.ndjson', LiveListingSchema)
  const optedOut = await readChecked(read, 'data/opted-out.ndjson', OptedOutListingSchema)
  const gone = await readChecked(read, 'data/gone.ndjson', GoneSchema)
  const search = await openIndex(folder, 'data/search.index')
  return {
    /** Digest of everything the build was made from. */
    name,
    listings,
    /** Removed at their sellers' request; never among `listings`. */
    optedOut,
    gone,
    /** Hosts that strangers share, needed to judge claims. */
    sharedHosts: file.shared_hosts,
    search,
    operations: await openIndex(folder, 'data/operations.index'),
    searchTexts: prepareTexts(search, file),
    searchChoices: file.search_choices,
    /** The directory's name and description. */
    site: file.texts,
    files: createStaticFiles(join(folder, 'public'), report),
    protocolData: createProtocolData(read),
    /** Why an address has no listing. */
    findNotListed: createFindNotListed(file.not_listed, file.other_hosts),
    /** Names of tasks by id, in the order of their table. */
    tasks: file.tasks,
    pageCode: toPageCode(folder, file),
  }
}

/** Reads and verifies a file of rows. @throws OperatorError if the file is missing or was changed */
function createReader(folder: string, { checksums }: ReleaseFile) {
  return async (path: string): Promise<string> => {
    const bytes = await readFile(join(folder, path)).catch((error: unknown) => {
      throw new OperatorError(`${path} cannot be read (${String(error)}): build again`)
    })
    if (hash('sha256', bytes) !== checksums[path])
      throw new OperatorError(`${path} is damaged: build again`)
    return bytes.toString('utf8')
  }
}

async function openIndex(folder: string, path: string): Promise<SearchIndex> {
  try {
    const index = openSearchIndex(join(folder, path))
    await verifyBodiesInSteps(index)
    return index
  } catch (error) {
    throw damagedIndex(path, error)
  }
}

/** An index that passes its checksums but cannot be parsed was built by another version. */
function damagedIndex(path: string, error: unknown): OperatorError {
  if (error instanceof TypeError || error instanceof RangeError)
    return new OperatorError(
      `${path} was built by another version of Waypost: build again with this version.`,
    )
  const reason = error instanceof Error ? error.message : String(error)
  return new OperatorError(`${path}: ${reason} Build again.`)
}

async function readReleaseFile(path: string): Promise<ReleaseFile> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new OperatorError(`${path} cannot be read (${String(error)}): build again`)
  })
  const parsed = v.safeParse(ReleaseFileSchema, parseJson(text))
  if (parsed.success) return parsed.output
  const place = v.getDotPath(parsed.issues[0]) ?? 'the file'
  throw new OperatorError(
    `${path} is damaged or was built by another version of Waypost (${place}): build again`,
  )
}

/** The code that renders pages made for each request. */
export type PageCode = ReturnType<typeof toPageCode>

function toPageCode(folder: string, { checksums }: ReleaseFile) {
  /** Paths relative to the folder and their SHA-256; `entry.mjs` is among them. */
  const files = Object.entries(checksums).filter(([path]) => path.startsWith('server/'))
  // The name is a hash of the files: the same code in another release has the same name.
  return { name: hash('sha256', JSON.stringify(files)), folder, files }
}

/**
 * A JSON file of the release by its address, or null.
 * @example const view = await readBuilt<ListingView>(release, listingPath(id))
 */
export async function readBuilt<View>(
  { files }: Pick<Release, 'files'>,
  path: string,
): Promise<View | null> {
  const bytes = files.read(path)
  // JSON.parse returns `any`; the build wrote this file from this very type.
  return bytes === null ? null : JSON.parse(bytes.toString('utf8'))
}

/** Finders of similar ids, created when an unknown id is first requested in a release. */
const finders = new WeakMap<Release['listings'], ReturnType<typeof createNearestIds>>()

/** The message about an id that no listing has. */
export function toUnknownText({ listings }: Pick<Release, 'listings'>, id: string): string {
  const findNear = finders.get(listings) ?? createNearestIds(listings.keys())
  finders.set(listings, findNear)
  const near = findNear(id)
  return near.length === 0
    ? 'No listing has this id. Ids look like x402.example or mcp.example; search for it by name.'
    : `No listing has this id; did you mean ${near.join(', ')}?`
}

/** A listing's current id; the same id if the listing never moved. */
export function currentId({ gone }: Pick<Release, 'gone'>, id: string): string {
  return gone.get(id)?.moved_to ?? id
}

/**
 * Rows for the protocols of other directories. Read on first use: most servers never need them.
 * @param read reads the verified text of one of the release's data files
 */
function createProtocolData(read: (name: string) => Promise<string>) {
  return {
    servers: once(() => readRows<RegistryRow>(read, 'data/mcp-servers.ndjson')),
    resources: once(() => readRows<ResourceRow>(read, 'data/paid-resources.ndjson')),
    ardRows: once(async () => {
      const rows = await readRows<ArdRow>(read, 'data/ard-rows.ndjson')
      return new Map(rows.map((row) => [row.id, row]))
    }),
    tasks: once(async () => {
      const tasks = await readRows<Task>(read, 'data/tasks.ndjson')
      const sellers = await readRows<TaskSeller>(read, 'data/task-sellers.ndjson')
      const byTask = Map.groupBy(sellers, ({ task }) => task)
      return new Map(
        tasks.map((task) => [task.id, { task, sellers: byTask.get(task.id) ?? [] }] as const),
      )
    }),
    declaredCalls: once(async () => {
      const rows = await readRows<DeclaredRow>(read, 'data/declared-calls.ndjson')
      return new Map(rows.map((row) => [row.digest, row]))
    }),
    probePlans: once(() => readRows<ProbePlan>(read, 'data/probe-plans.ndjson')),
    compareRows: once(async () => {
      const rows = await readRows<CompareRow>(read, 'data/compare-rows.ndjson')
      return new Map(rows.map((row) => [row.id, row]))
    }),
  }
}

/** Loads the value once and keeps it. A failure is not kept: the next request tries again. */
function once<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
}

/** Rows read between two pauses in which the server answers requests. */
const ROWS_AT_A_TIME = 500

async function readRows<Row>(
  read: (name: string) => Promise<string>,
  name: string,
): Promise<Row[]> {
  const text = await read(name)
  const rows: Row[] = []
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    // JSON.parse returns `any`; the build wrote these rows from this very type.
    rows.push(JSON.parse(text.slice(start, end < 0 ? text.length : end)))
    start = end < 0 ? text.length : end + 1
    if (rows.length % ROWS_AT_A_TIME === 0) await pause()
  }
  return rows
}

/** Rows by id. @throws OperatorError at the first row that another version of Waypost wrote */
async function readChecked<Schema extends v.GenericSchema<unknown, { id: string }>>(
  read: (name: string) => Promise<string>,
  name: string,
  schema: Schema,
) {
  const rows = new Map<string, v.InferOutput<Schema>>()
  for (const each of await readRows(read, name)) {
    const row = v.safeParse(schema, each)
    if (!row.success)
      throw new OperatorError(
        `The release was built by another version of Waypost (${v.getDotPath(row.issues[0]) ?? 'a row'}): build again with this version.`,
      )
    rows.set(row.output.id, row.output)
    if (rows.size % ROWS_AT_A_TIME === 0) await pause()
  }
  return rows
}

const DEFAULT_MEMORY_BYTES = 32 * 1024 * 1024

/** Closes an index's file once nothing refers to the index: searches may still be using an old index. */
const abandoned = new FinalizationRegistry<number>((file) => closeSync(file))

/**
 * Opens an index file for serving: the head and small bodies are in memory; larger bodies are read
 * from the file one by one (the system's page cache keeps the popular ones). Everything in memory
 * has been verified; a body in the file is verified each time it is read.
 * @param memoryBytes total size up to which listing bodies are kept in memory
 * @throws SearchIndexError if the file is damaged, cut short, or of another version
 */
export function openSearchIndex(path: string, memoryBytes = DEFAULT_MEMORY_BYTES): SearchIndex {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const header = readIndexHeader(readAt(file, 0, Math.min(INDEX_HEADER_BYTES, size)))
    if (header.bodyBytes <= memoryBytes) {
      const index = loadSearchIndex(readAt(file, 0, size))
      closeSync(file)
      return index
    }
    verifyLength(header, size)
    const { headBytes } = header
    const bodies: BodyStore = { read: (at, length) => readAt(file, headBytes + at, length) }
    const index = loadSearchIndexHead(readAt(file, 0, headBytes), header, bodies)
    abandoned.register(bodies, file)
    return index
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/**
 * Reads every body that stays in the file once, so that damage is found before somebody requests
 * the damaged listing. Other work goes on meanwhile.
 * @throws SearchIndexError at the first damaged body
 */
export async function verifyBodiesInSteps(index: SearchIndex): Promise<void> {
  if (!index.verifyReads) return
  for (const _step of verifyBodies(index)) await pause()
}

/**
 * Reads into an ArrayBuffer of its own: typed arrays need alignment, which a slice of Node's pool lacks.
 * The buffer is not zeroed because it is filled completely. A Buffer's `slice` would not copy.
 */
function readAt(file: number, position: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer)
  let filled = 0
  while (filled < length) {
    const read = readSync(file, bytes, filled, length - filled, position + filled)
    if (read === 0) throw new SearchIndexError('The search index is damaged: it ends too early.')
    filled += read
  }
  return bytes
}

/** How often the link to the current release is checked (milliseconds). */
const LOOK_EVERY = 1000

/**
 * Holds the release being served and picks up a new one when `OUT_DIR/current` is switched. The new
 * release is loaded and verified in short steps before it is swapped in, so that no request waits
 * or sees a mixture of both. If it cannot be loaded, the old release stays until the link changes
 * again.
 * @throws if the first release cannot be loaded
 */
export async function createReleaseHolder({
  outDir,
  baseUrl,
  log,
}: {
  outDir: string
  baseUrl: string
  log: Log
}) {
  const readTarget = () => readLink(join(outDir, 'current'))
  const report = createFailureReport({ log, problem: createProblems(baseUrl) })
  const readTime = (name: string) =>
    statSync(join(outDir, 'releases', name, 'release.json')).mtimeMs
  const load = (name: string) => loadRelease(name, { outDir, baseUrl, report })
  const first = readTarget()
  if (first === null)
    throw new OperatorError(`OUT_DIR ${outDir} contains no release: build one with "npm run build"`)
  let target = first
  let loaded = await load(target)
  let publishedAt = readTime(target)
  async function swapTo(next: string): Promise<void> {
    try {
      const taken = await load(next)
      publishedAt = readTime(next)
      loaded = taken
      log.info('release.swapped', { release: taken.name })
    } catch (error) {
      log.error('release.refused', {
        release: next,
        serving: loaded.name,
        reason: error instanceof Error ? error.message : 'unreadable',
      })
    }
  }
  // Between two renames the link may be missing for an instant.
  const readNext = () => readTarget() ?? target
  async function look(): Promise<void> {
    for (let next = readNext(); next !== target; next = readNext()) {
      target = next
      await swapTo(next)
    }
  }
  let looking: Promise<void> | undefined
  const refresh = () => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }
  const timer = setInterval(() => void refresh(), LOOK_EVERY)
  timer.unref()
  return {
    current: (): Release => loaded,
    /** When the release being served was published (milliseconds since the epoch). */
    publishedAt: () => publishedAt,
    /** Checks now: swaps to a new release, or keeps the old one and logs why. */
    refresh,
    close: () => clearInterval(timer),
  }
}

function readLink(path: string): string | null {
  try {
    return basename(readlinkSync(path))
  } catch {
    return null
  }
}
