import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { close, createIndex } from 'pagefind'
import * as v from 'valibot'

/** Ready-made interfaces that Pagefind writes beside its index; the search page has its own. */
const UNUSED = /^pagefind-(?:ui|modular-ui|component-ui|highlight)\./

/** What reads an index: one for all of them is enough. */
const PROGRAM = /^(?:pagefind|pagefind-worker)\.js$|^wasm\./

/** Pages told at once: Pagefind answers each, and answers must not pile up. */
const AT_ONCE = 200

const JobsSchema = v.array(
  v.strictObject({
    outputPath: v.string(),
    pages: v.array(v.strictObject({ url: v.string(), content: v.string() })),
    hasProgram: v.boolean(),
  }),
)
type Job = v.InferOutput<typeof JobsSchema>[number]

for (const job of v.parse(JobsSchema, workerData)) await index(job)
await close()
parentPort?.postMessage('indexed')

async function index({ outputPath, pages, hasProgram }: Job): Promise<void> {
  const { index: made, errors } = await createIndex()
  if (made === undefined) throw new Error(`pagefind did not start: ${errors.join('; ')}`)
  for (let from = 0; from < pages.length; from += AT_ONCE) {
    const some = pages.slice(from, from + AT_ONCE)
    const added = await Promise.all(some.map((page) => made.addHTMLFile(page)))
    const refused = added.flatMap((answer) => answer.errors)
    if (refused.length > 0) throw new Error(`pagefind could not read: ${refused.join('; ')}`)
  }
  const written = await made.writeFiles({ outputPath })
  if (written.errors.length > 0)
    throw new Error(`pagefind could not write its index: ${written.errors.join('; ')}`)
  await made.deleteIndex()
  for (const file of readdirSync(outputPath))
    if (UNUSED.test(file) || (!hasProgram && PROGRAM.test(file))) rmSync(join(outputPath, file))
}
