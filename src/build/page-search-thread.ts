import { parentPort, workerData } from 'node:worker_threads'
import { close, createIndex } from 'pagefind'
import type { IndexFile, IndexJob, SearchPage } from './page-search.ts'

/** Pagefind's other interfaces. */
const UNUSED = /^pagefind-(?:modular-ui|component-ui|highlight)\./

/** The code that reads an index, with its interface: one copy for all of them is enough. */
const PROGRAM = /^pagefind(?:-worker|-ui)?\.(?:js|css)$|^wasm\./

/** Pages sent at once: Pagefind answers each, and answers must not pile up. */
const AT_ONCE = 200

const made: IndexFile[][] = []
// A thread's data is typed `any`; `indexPages` passes this.
const jobs: IndexJob[] = workerData
for (const job of jobs) made.push(await index(job))
await close()
parentPort?.postMessage(made)

async function index({ pages: rows, hasProgram }: IndexJob): Promise<IndexFile[]> {
  // JSON.parse is typed `any`; `writeListingFiles` made the rows from this very type.
  const pages: SearchPage[] = JSON.parse(
    `[${Buffer.from(rows).toString().trimEnd().replaceAll('\n', ',')}]`,
  )
  const { index: made, errors } = await createIndex()
  if (made === undefined) throw new Error(`pagefind did not start: ${errors.join('; ')}`)
  for (let from = 0; from < pages.length; from += AT_ONCE) {
    const some = pages.slice(from, from + AT_ONCE)
    const added = await Promise.all(some.map((page) => made.addHTMLFile(page)))
    const refused = added.flatMap((answer) => answer.errors)
    if (refused.length > 0) throw new Error(`pagefind could not read: ${refused.join('; ')}`)
  }
  // Pagefind's own writing takes as long as the rest: it creates the folder again for each file.
  const { files, errors: failures } = await made.getFiles()
  if (failures.length > 0)
    throw new Error(`pagefind could not make its index: ${failures.join('; ')}`)
  await made.deleteIndex()
  return files.filter(({ path }) => !UNUSED.test(path) && (hasProgram || !PROGRAM.test(path)))
}
