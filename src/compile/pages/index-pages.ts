import { Worker } from 'node:worker_threads'
import type { SearchPage } from './pagefind-pages.ts'

/** An index for the search in the browser, and the folder it goes to. */
export interface IndexJob {
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
    worker.once('exit', () =>
      reject(new Error('the thread of the page search ended before its work')),
    )
  })
}
