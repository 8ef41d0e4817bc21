import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'astro'
import { COMPILED_DIR_VARIABLE } from '../compiled.ts'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

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
  // Astro encrypts the props of server islands with it. There are none, and no request reaches
  // their route; a random key would only make each build's bytes differ.
  process.env.ASTRO_KEY = createHash('sha256').update('no server islands').digest('base64')
  await build({
    root: PROJECT,
    outDir,
    cacheDir,
    logLevel: 'warn',
    vite: {
      cacheDir: `${cacheDir}/vite`,
      logLevel: 'warn',
      // A release stands alone: its folder may be anywhere, far from node_modules.
      resolve: { noExternal: true },
    },
  })
  forgetFolders(join(outDir, 'server', 'entry.mjs'), [outDir, cacheDir])
}

/**
 * Astro writes the folders of the build into its server entry, where nothing reads them in
 * middleware mode. They are cut so that the same content gives the same bytes in any folder.
 */
function forgetFolders(entry: string, folders: readonly string[]): void {
  let text = readFileSync(entry, 'utf8')
  for (const folder of folders)
    text = text.replaceAll(`${pathToFileURL(folder).href}/`, 'file:///release/')
  writeFileSync(entry, text.replaceAll(pathToFileURL(PROJECT).href, 'file:///project/'))
}
