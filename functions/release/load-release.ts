import { readFile } from 'node:fs/promises'
import { setImmediate as pause } from 'node:timers/promises'
import * as v from 'valibot'
import { type ReleaseFile, ReleaseFileSchema } from '../../src/domain/derived/release-file.ts'
import { GoneSchema } from '../../src/domain/derived/tombstone.ts'
import { LiveListingSchema, OptedOutListingSchema } from '../../src/domain/listing/live-listing.ts'
import { createFindNotListed } from '../../src/domain/unlisted/not-listed.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import { findContentType, type StaticFile, toUrlPath } from '../../src/domain/wire/static-file.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import { isThere, objectPath, readObject } from '../../src/store/objects.ts'
import { type ListedFile, releasePath } from '../../src/store/release-list.ts'
import type { ReportFailure } from '../http/failure.ts'
import type { ObjectCache } from '../static/object-cache.ts'
import { createStaticFiles, type PublicFiles } from '../static/static-files.ts'
import { openSearchIndex, verifyBodiesInSteps } from './open-index.ts'
import type { PageCode } from './page-code.ts'
import { toSearchTexts } from './prepare-texts.ts'
import type { Release } from './release.ts'
import { createDoorData } from './release.ts'

/** Files checked without a pause: a server goes on answering meanwhile. */
const FILES_AT_A_TIME = 200

/** A release that cannot be served: damaged, incomplete, or built for another address. */
export class ReleaseError extends OperatorError {
  override name = 'ReleaseError'
}

/** A release, and the remaining checks before it can be fully trusted. */
export interface LoadedRelease {
  release: Release
  /**
   * Verifies in short steps what loading did not: listing bodies that stay in the index file, and
   * the length of every file that is served. Returns the names of damaged ones: each is a 500.
   * @throws ReleaseError when the index is damaged and the release must not be served
   */
  verify(): Promise<string[]>
}

/** Rows read without a pause: a server goes on answering while it loads a new release. */
const ROWS_AT_A_TIME = 500

/** What every release is loaded with. */
export interface Loading {
  outDir: string
  baseUrl: string
  cache: ObjectCache
  report: ReportFailure
}

/**
 * Loads a release by its name, in short steps.
 *
 * @throws ReleaseError when it is damaged or of another version, or was built with another
 *   `BASE_URL`: its absolute URLs would be wrong.
 */
export async function loadRelease(
  name: string,
  { outDir, baseUrl, cache, report }: Loading,
): Promise<LoadedRelease> {
  const file = await readReleaseFile(releasePath(outDir, name))
  if (file.base_url !== baseUrl)
    throw new ReleaseError(
      `BASE_URL is ${baseUrl}, but the release ${name} in ${outDir} was built with ${file.base_url}: build again with this BASE_URL, or start with the other`,
    )
  const list = await readList(await readText(outDir, { path: 'the list', ...file.list }))
  const read = (path: string) => readText(outDir, findListed(list, path))
  const byId = (row: { id: string }) => row.id
  const listings = await readRows(await read('data/listings.ndjson'), LiveListingSchema, byId)
  const optedOut = await readRows(await read('data/opted-out.ndjson'), OptedOutListingSchema, byId)
  const gone = await readRows(await read('data/gone.ndjson'), GoneSchema, (row) => row.id)
  const { search, operations } = openIndexes(outDir, list)
  return {
    release: {
      name: file.name,
      listings,
      optedOut,
      sharedHosts: file.shared_hosts,
      gone,
      search,
      operations,
      searchTexts: toSearchTexts(file),
      searchChoices: file.search_choices,
      site: file.texts,
      files: createStaticFiles(toPublicFiles(list), cache, report),
      doorData: createDoorData(read),
      findNotListed: createFindNotListed(file.not_listed, file.other_hosts),
      tasks: file.tasks,
      pageCode: toPageCode(outDir, file.page_code, list),
    },
    verify: async () => {
      await verifyIndexes({ search, operations })
      return findDamaged(outDir, list.values())
    },
  }
}

type ReleaseList = ReadonlyMap<string, ListedFile>

/** The rows were verified; they are read in short steps, so that the server goes on answering. */
async function readList(text: string): Promise<ReleaseList> {
  const list = new Map<string, ListedFile>()
  for await (const row of parseLines(text)) {
    // JSON.parse is typed `any`; the list was written from this very type.
    const file: ListedFile = row
    list.set(file.path, file)
  }
  return list
}

function findListed(list: ReleaseList, path: string): ListedFile {
  const file = list.get(path)
  if (file === undefined) throw new ReleaseError(`The release has no ${path}: build again.`)
  return file
}

function toPublicFiles(list: ReleaseList): PublicFiles {
  const files = new Map<string, StaticFile>()
  for (const { path, size, digest } of list.values()) {
    if (!path.startsWith('public/')) continue
    const file = path.slice('public/'.length)
    files.set(toUrlPath(file), { file, type: findContentType(file), size, digest })
  }
  return files
}

function openIndexes(outDir: string, list: ReleaseList) {
  return {
    search: openIndex(outDir, findListed(list, 'data/search.index')),
    operations: openIndex(outDir, findListed(list, 'data/operations.index')),
  }
}

async function verifyIndexes(indexes: Record<string, SearchIndex>): Promise<void> {
  for (const [name, index] of Object.entries(indexes))
    await verifyBodiesInSteps(index).catch((error: unknown) => {
      throw damagedIndex(`${name}.index`, error)
    })
}

function openIndex(outDir: string, { path, digest }: ListedFile): SearchIndex {
  try {
    return openSearchIndex(objectPath(outDir, digest))
  } catch (error) {
    throw damagedIndex(path, error)
  }
}

function damagedIndex(path: string, error: unknown): ReleaseError {
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

/** @throws ReleaseError when it is not what was published */
async function readText(outDir: string, file: ListedFile): Promise<string> {
  const bytes = await readObject(outDir, file).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ReleaseError(`${file.path} is missing or damaged (${reason}): build again`)
  })
  return bytes.toString('utf8')
}

function toPageCode(outDir: string, name: string, list: ReleaseList): PageCode {
  const own = [...list.values()].filter(({ path }) => path.startsWith(`${name}/`))
  return { name, outDir, files: own }
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

/**
 * Paths of files whose objects are missing, or not as long as they were published. Their bytes are
 * verified when they are first read.
 */
async function findDamaged(outDir: string, files: Iterable<ListedFile>): Promise<string[]> {
  const damaged: string[] = []
  let seen = 0
  for (const file of files) {
    if (!isThere(outDir, file)) damaged.push(file.path)
    seen += 1
    if (seen % FILES_AT_A_TIME === 0) await pause()
  }
  return damaged
}
