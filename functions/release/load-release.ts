import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'
import * as v from 'valibot'
import { type ReleaseFile, ReleaseFileSchema } from '../../src/domain/derived/release-file.ts'
import { GoneSchema } from '../../src/domain/derived/tombstone.ts'
import { LiveListingSchema, OptedOutListingSchema } from '../../src/domain/listing/live-listing.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import {
  CopiesSchema,
  type StaticFile,
  StaticFileSchema,
  toUrlPath,
} from '../../src/domain/wire/static-file.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import type { ReportFailure } from '../http/failure.ts'
import { hasDigest } from '../static/read-verified.ts'
import { createStaticFiles, type PublicFolder } from '../static/static-files.ts'
import { openSearchIndex, verifyBodiesInSteps } from './open-index.ts'
import type { PageCode } from './page-code.ts'
import { toSearchTexts } from './prepare-texts.ts'
import type { Release } from './release.ts'
import { createDoorData } from './release.ts'

/** Files looked at without a pause: a server goes on answering meanwhile. */
const FILES_AT_A_TIME = 200

/** A release that cannot be served: damaged, half there, or built for another address. */
export class ReleaseError extends OperatorError {
  override name = 'ReleaseError'
}

/** A release, and what is left to do before it may be trusted whole. */
export interface LoadedRelease {
  release: Release
  /**
   * Verifies in short steps what loading did not: listing bodies that stay in the index file, and
   * the length of every file that is served. The names of damaged ones come back: each is a 500.
   * @throws ReleaseError when the index is damaged and the release must not be served
   */
  verify(): Promise<string[]>
}

/** Rows read without a pause: a server goes on answering while it loads a new release. */
const ROWS_AT_A_TIME = 500

/**
 * Loads a release from its folder, in short steps.
 *
 * @throws ReleaseError when it is damaged or of another version, or was built with another
 *   `BASE_URL`: its absolute URLs would be wrong.
 */
export async function loadRelease(
  dir: string,
  baseUrl: string,
  report: ReportFailure,
): Promise<LoadedRelease> {
  const file = await readReleaseFile(dir)
  if (file.base_url !== baseUrl)
    throw new ReleaseError(
      `BASE_URL is ${baseUrl}, but the release in ${dir} was built with ${file.base_url}: build again with this BASE_URL, or start with the other`,
    )
  const read = (name: string) => readPublished(dir, file, name)
  const byId = (row: { id: string }) => row.id
  const listings = await readRows(await read('data/listings.ndjson'), LiveListingSchema, byId)
  const optedOut = await readRows(await read('data/opted-out.ndjson'), OptedOutListingSchema, byId)
  const gone = await readRows(await read('data/gone.ndjson'), GoneSchema, (row) => row.id)
  const { search, operations } = openIndexes(dir)
  const folder = await readPublicFolder(join(dir, 'public'), read)
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
      files: createStaticFiles(folder, report),
      doorData: createDoorData(read),
      peers: file.peers,
      tasks: file.tasks,
      pageCode: toPageCode(dir, file),
    },
    verify: async () => {
      await verifyIndexes(dir, { search, operations })
      return findDamaged(folder.dir, folder.files.values())
    },
  }
}

async function readPublicFolder(
  dir: string,
  read: (name: string) => Promise<string>,
): Promise<PublicFolder> {
  const toAddress = ({ file }: StaticFile) => toUrlPath(file)
  const files = await readRows(await read('data/files.ndjson'), StaticFileSchema, toAddress)
  const copies = await readRows(await read('data/copies.ndjson'), CopiesSchema, (row) => row.file)
  return { dir, files, copies }
}

function openIndexes(dir: string) {
  return {
    search: openIndex(dir, 'search.index'),
    operations: openIndex(dir, 'operations.index'),
  }
}

async function verifyIndexes(dir: string, indexes: Record<string, SearchIndex>): Promise<void> {
  for (const [name, index] of Object.entries(indexes))
    await verifyBodiesInSteps(index).catch((error: unknown) => {
      throw damagedIndex(dir, `${name}.index`, error)
    })
}

function openIndex(dir: string, name: string): SearchIndex {
  try {
    return openSearchIndex(join(dir, 'data', name))
  } catch (error) {
    throw damagedIndex(dir, name, error)
  }
}

function damagedIndex(dir: string, name: string, error: unknown): ReleaseError {
  const reason = error instanceof Error ? error.message : String(error)
  return new ReleaseError(`${join(dir, 'data', name)}: ${reason} Build again.`)
}

async function readReleaseFile(dir: string): Promise<ReleaseFile> {
  const path = join(dir, 'data/release.json')
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
async function readPublished(dir: string, { files }: ReleaseFile, name: string): Promise<string> {
  const path = join(dir, name)
  const published = files[name]
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new ReleaseError(`${path} cannot be read (${String(error)}): build again`)
  })
  if (published === undefined || !hasDigest(bytes, published.digest))
    throw new ReleaseError(
      `${path} is damaged: it has ${bytes.length} of ${published?.size ?? 'unknown'} bytes, or others than were published: build again`,
    )
  return bytes.toString('utf8')
}

function toPageCode(dir: string, { page_code, files }: ReleaseFile): PageCode {
  const own = Object.entries(files).filter(([name]) => name.startsWith(`${page_code}/`))
  return { name: page_code, dir, files: new Map(own) }
}

/** @throws ReleaseError at the first row of another version; the bytes are those that were published */
async function readRows<Schema extends v.GenericSchema>(
  text: string,
  schema: Schema,
  keyOf: (row: v.InferOutput<Schema>) => string,
): Promise<Map<string, v.InferOutput<Schema>>> {
  const rows = new Map<string, v.InferOutput<Schema>>()
  for (let start = 0, read = 1; start < text.length; read += 1) {
    const end = text.indexOf('\n', start)
    const row = v.safeParse(schema, JSON.parse(text.slice(start, end < 0 ? text.length : end)))
    if (!row.success)
      throw new ReleaseError(
        `The release is of another version of Waypost (${v.getDotPath(row.issues[0]) ?? 'a row'}): build again with this one.`,
      )
    rows.set(keyOf(row.output), row.output)
    start = end < 0 ? text.length : end + 1
    if (read % ROWS_AT_A_TIME === 0) await pause()
  }
  return rows
}

/**
 * Names of files that are not as long as they were published, compressed neighbours too. Their
 * bytes are verified when they are first read.
 */
async function findDamaged(dir: string, files: Iterable<StaticFile>): Promise<string[]> {
  const damaged: string[] = []
  let seen = 0
  for (const { file, size, br, gz } of files) {
    const path = `${dir}/${file}`
    if (!hasSize(path, size)) damaged.push(file)
    if (br > 0 && !hasSize(`${path}.br`, br)) damaged.push(`${file}.br`)
    if (gz > 0 && !hasSize(`${path}.gz`, gz)) damaged.push(`${file}.gz`)
    seen += 1
    if (seen % FILES_AT_A_TIME === 0) await pause()
  }
  return damaged
}

/** Synchronous: a look takes two microseconds, handing it to the thread pool many times that. */
function hasSize(path: string, size: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === size
}
