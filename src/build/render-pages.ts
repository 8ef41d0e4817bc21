import { fileURLToPath } from 'node:url'
import { build } from 'astro'
import { COMPILED_DIR_VARIABLE } from '../compiled.ts'

export interface RenderOptions {
  /** Folder of the compiled catalogue (`src/compiled.ts` reads it). */
  compiledDir: string
  /** Receives `client/` and `server/`. */
  outDir: string
  /** Of its own for each build, so that two builds at once do not share one. */
  cacheDir: string
}

/** Renders every page with Astro. */
export async function renderPages({ compiledDir, outDir, cacheDir }: RenderOptions): Promise<void> {
  process.env[COMPILED_DIR_VARIABLE] = compiledDir
  await build({
    root: fileURLToPath(new URL('../..', import.meta.url)),
    outDir,
    cacheDir,
    logLevel: 'warn',
    vite: { cacheDir: `${cacheDir}/vite`, logLevel: 'warn' },
  })
}
