import { hash } from 'node:crypto'
import { readlinkSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'
import * as v from 'valibot'
import { type ReleaseFile, ReleaseFileSchema } from '../../src/domain/derived/tables.ts'
import {
  GoneSchema,
  LiveListingSchema,
  OptedOutListingSchema,
} from '../../src/domain/listing/listing-states.ts'
import { createFindNotListed } from '../../src/domain/sellers/not-listed.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import type { SearchIndex } from '../../src/search/index/index-file.ts'
import { createProblems } from '../http/answers.ts'
import type { Log } from '../ports/log.ts'
import { createFailureReport, type ReportFailure } from '../server/node-answers.ts'
import { createStaticFiles } from '../static/static-files.ts'
import { openSearchIndex, verifyBodiesInSteps } from './open-index.ts'
import { prepareTexts } from './prepare-texts.ts'
import { createProtocolData, type PageCode, type Release } from './release.ts'

/** A release that cannot be served: damaged, incomplete, or built for another address. */
export class ReleaseError extends OperatorError {
  override name = 'ReleaseError'
}

/** How often the link to the current release is checked (milliseconds). */
const LOOK_EVERY = 1000

export type ReleaseHolder = Awaited<ReturnType<typeof createReleaseHolder>>

/**
 * Holds the release being served and picks up a new one when `OUT_DIR/current` is switched. The new
 * one is completely loaded and verified before it is swapped in, in short steps, so that no request
 * sees a mixture or waits for it; one that cannot be loaded leaves the old one serving, and is
 * tried again only when the link changes.
 *
 * @throws when the first release cannot be loaded.
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
    throw new ReleaseError(`OUT_DIR ${outDir} holds no release: build one with "npm run build"`)
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

/** Rows read without a pause: a server goes on answering while it loads a new release. */
const ROWS_AT_A_TIME = 500

/**
 * Loads and verifies a release by its name, in short steps.
 *
 * @throws ReleaseError when it is damaged or of another version, or was built with another
 *   `BASE_URL`: its absolute URLs would be wrong.
 */
async function loadRelease(
  name: string,
  { outDir, baseUrl, report }: { outDir: string; baseUrl: string; report: ReportFailure },
): Promise<Release> {
  const folder = join(outDir, 'releases', name)
  const file = await readReleaseFile(join(folder, 'release.json'))
  if (file.base_url !== baseUrl)
    throw new ReleaseError(
      `BASE_URL is ${baseUrl}, but the release ${name} in ${outDir} was built with ${file.base_url}: build again with this BASE_URL, or start with the other`,
    )
  const read = createReader(folder, file)
  const byId = (row: { id: string }) => row.id
  const listings = await readRows(await read('data/listings.ndjson'), LiveListingSchema, byId)
  const optedOut = await readRows(await read('data/opted-out.ndjson'), OptedOutListingSchema, byId)
  const gone = await readRows(await read('data/gone.ndjson'), GoneSchema, byId)
  const search = await openIndex(folder, 'data/search.index')
  return {
    name,
    listings,
    optedOut,
    sharedHosts: file.shared_hosts,
    gone,
    search,
    operations: await openIndex(folder, 'data/operations.index'),
    searchTexts: prepareTexts(search, file),
    searchChoices: file.search_choices,
    site: file.texts,
    files: createStaticFiles(join(folder, 'public'), report),
    protocolData: createProtocolData(read),
    findNotListed: createFindNotListed(file.not_listed, file.other_hosts),
    tasks: file.tasks,
    pageCode: toPageCode(folder, file),
  }
}

/** Reads a file of rows, verified. @throws ReleaseError when it is not what was built */
function createReader(folder: string, { checksums }: ReleaseFile) {
  return async (path: string): Promise<string> => {
    const bytes = await readFile(join(folder, path)).catch((error: unknown) => {
      throw new ReleaseError(`${path} cannot be read (${String(error)}): build again`)
    })
    if (hash('sha256', bytes) !== checksums[path])
      throw new ReleaseError(`${path} is damaged: build again`)
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

/** One that passes its checksums and is not understood lacks what this version reads, or has more. */
function damagedIndex(path: string, error: unknown): ReleaseError {
  if (error instanceof TypeError || error instanceof RangeError)
    return new ReleaseError(`${path} is of another version of Waypost: build again with this one.`)
  const reason = error instanceof Error ? error.message : String(error)
  return new ReleaseError(`${path}: ${reason} Build again.`)
}

async function readReleaseFile(path: string): Promise<ReleaseFile> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ReleaseError(`${path} cannot be read (${String(error)}): build again`)
  })
  const parsed = v.safeParse(ReleaseFileSchema, parseJson(text))
  if (parsed.success) return parsed.output
  const place = v.getDotPath(parsed.issues[0]) ?? 'the file'
  throw new ReleaseError(
    `${path} is damaged or of another version of Waypost (${place}): build again`,
  )
}

function toPageCode(folder: string, { checksums }: ReleaseFile): PageCode {
  const files = Object.entries(checksums).filter(([path]) => path.startsWith('server/'))
  return { name: hash('sha256', JSON.stringify(files)), folder, files }
}

/** @throws ReleaseError at the first row of another version; the bytes are those that were published */
async function readRows<Schema extends v.GenericSchema>(
  text: string,
  schema: Schema,
  keyOf: (row: v.InferOutput<Schema>) => string,
): Promise<Map<string, v.InferOutput<Schema>>> {
  const rows = new Map<string, v.InferOutput<Schema>>()
  for await (const line of parseLines(text)) {
    const row = v.safeParse(schema, line)
    if (!row.success)
      throw new ReleaseError(
        `The release is of another version of Waypost (${v.getDotPath(row.issues[0]) ?? 'a row'}): build again with this one.`,
      )
    rows.set(keyOf(row.output), row.output)
  }
  return rows
}

/** The values of lines of JSON, with pauses; typed `any`, as those of `JSON.parse`. */
async function* parseLines(text: string) {
  for (let start = 0, read = 1; start < text.length; read += 1) {
    const end = text.indexOf('\n', start)
    yield JSON.parse(text.slice(start, end < 0 ? text.length : end))
    start = end < 0 ? text.length : end + 1
    if (read % ROWS_AT_A_TIME === 0) await pause()
  }
}
