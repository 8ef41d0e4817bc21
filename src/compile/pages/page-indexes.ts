import { existsSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import * as v from 'valibot'
import type { CompiledListing } from '../../compiled.ts'
import type { CarriedFile } from '../files/carry-over.ts'
import type { PublicFiles } from '../files/public-files.ts'
import { digestOf } from '../files/release-writer.ts'
import { type SearchPage, toSearchPages } from './pagefind-pages.ts'

/** An index of the search in the browser: of which texts, in how many files. */
export const MadeIndexSchema = v.strictObject({ digest: v.string(), files: v.number() })
export type MadeIndex = v.InferOutput<typeof MadeIndexSchema>

/** Folder of the search in the browser, with a folder for each index. */
const FOLDER = 'pagefind'

export interface PageIndexes {
  /** Done once every index that has to be made is; what fails is thrown by `writeTo`. */
  indexed: Promise<void>
  /** @throws what Pagefind says when it cannot start, read or write */
  writeTo(files: PublicFiles): Promise<MadeIndex[]>
}

/**
 * Begins to make the search in the browser, in a thread. An index whose texts are as they were stays
 * as it was carried over.
 *
 * @param work a folder of its own: what was there before may be linked in `public/`
 * @param before the indexes of the release before, by their place
 */
export function beginPageIndexes(
  work: string,
  listings: readonly CompiledListing[],
  { before, carried }: { before: readonly MadeIndex[]; carried: readonly CarriedFile[] },
): PageIndexes {
  const indexes = toSearchPages(listings).map((pages, place) => {
    const digest = digestOf(JSON.stringify(pages))
    const folder = `${FOLDER}/${place}`
    const kept = before[place]?.digest === digest ? filesBelow(folder, carried) : []
    const isKept = kept.length > 0 && kept.length === before[place]?.files
    return { pages, digest, folder, kept: isKept ? kept : null, hasProgram: place === 0 }
  })
  const jobs = indexes
    .filter(({ kept }) => kept === null)
    .map(({ pages, folder, hasProgram }) => ({ outputPath: join(work, folder), pages, hasProgram }))
  const indexed = jobs.length === 0 ? Promise.resolve() : indexPages(jobs)
  indexed.catch(() => undefined)
  return {
    indexed,
    async writeTo(files) {
      await indexed
      files.writeJson(`${FOLDER}/indexes.json`, { count: indexes.length })
      return indexes.map(({ digest, folder, kept }) => {
        for (const file of kept ?? []) files.keep(file)
        const count = kept?.length ?? files.writeFolder(join(work, folder), folder)
        return { digest, files: count }
      })
    },
  }
}

function filesBelow(folder: string, carried: readonly CarriedFile[]): string[] {
  return carried.map(({ entry }) => entry.file).filter((file) => file.startsWith(`${folder}/`))
}

/** With less room than this its files do not fit (bytes). */
const LEAST_ROOM = 1024 * 1024

/** An index for the search in the browser, and the folder it goes to. */
interface IndexJob {
  outputPath: string
  pages: readonly SearchPage[]
  /** Whether the program that reads it, and all beside it, goes there too. */
  hasProgram: boolean
}

/**
 * Indexes listings for the search in the browser, in a thread of its own: Pagefind is another
 * process, and wants to be answered while pages are rendered.
 *
 * @throws what Pagefind says when it cannot start, read or write.
 */
export function indexPages(jobs: readonly IndexJob[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const url = new URL('./index-worker.ts', import.meta.url)
    const worker = new Worker(url, { workerData: jobs })
    worker.once('message', () => resolve())
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error(`${whyEnded(jobs)}the page search was not made`)))
  })
}

/** Pagefind is another process, and gives up without a word to us where it cannot write. */
function whyEnded([first]: readonly IndexJob[]): string {
  const work = dirname(dirname(first?.outputPath ?? ''))
  // Gone once the release is published, or given up for another reason.
  if (!existsSync(work)) return ''
  const { bavail, bsize } = statfsSync(work)
  return bavail * bsize < LEAST_ROOM ? 'ENOSPC: ' : ''
}
