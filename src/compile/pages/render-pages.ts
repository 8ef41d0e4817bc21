import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'

const PROGRAM = fileURLToPath(new URL('./render-pages-process.ts', import.meta.url))

export const RenderOptionsSchema = v.strictObject({
  /** Folder of the compiled catalogue (`src/compiled.ts` reads it). */
  compiledDir: v.string(),
  /** Receives `client/` and `server/`. */
  outDir: v.string(),
  /** Of its own for each build, so that two builds at once do not share one. */
  cacheDir: v.string(),
})
export type RenderOptions = v.InferOutput<typeof RenderOptionsSchema>

/**
 * Renders every page with Astro, in a process of its own: its bundler and its copy of the catalogue
 * hold a gigabyte that modules never give back, and the page search needs the room next.
 *
 * @throws Error when Astro fails; its own messages are on stderr by then.
 */
export async function renderPages(options: RenderOptions): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], { stdio: 'inherit' })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  if (code !== 0) throw new Error('the pages could not be rendered (see the messages above)')
}
