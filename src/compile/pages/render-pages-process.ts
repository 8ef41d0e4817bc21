import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'astro'
import * as v from 'valibot'
import { COMPILED_DIR_VARIABLE } from '../../compiled.ts'
import { type RenderOptions, RenderOptionsSchema } from './render-pages.ts'

/** The program that `renderPages` runs; its only argument is the options as JSON. */
const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * A server reads all of it at once, when the release is surely there. A hash in the name would be
 * of text that the folders are cut from below.
 */
const ONE_CHUNK = {
  chunkFileNames: '[name].mjs',
  codeSplitting: { groups: [{ name: 'pages', test: /./ }] },
}

await render(v.parse(RenderOptionsSchema, JSON.parse(process.argv[2] ?? 'null')))

async function render({ compiledDir, outDir, cacheDir }: RenderOptions): Promise<void> {
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
      environments: { ssr: { build: { rolldownOptions: { output: ONE_CHUNK } } } },
    },
  })
  forgetFolders(join(outDir, 'server'), [outDir, cacheDir])
}

/**
 * Astro writes the folders of the build and of the project into its server files, where they only
 * serve as names. They are cut so that the same content gives the same bytes in any folder.
 */
function forgetFolders(serverDir: string, folders: readonly string[]): void {
  const root = PROJECT.replace(/\/$/, '')
  const files = readdirSync(serverDir, { recursive: true, withFileTypes: true })
  for (const entry of files.filter((file) => file.isFile())) {
    const path = join(entry.parentPath, entry.name)
    let text = readFileSync(path, 'utf8')
    for (const folder of folders)
      text = text.replaceAll(`${pathToFileURL(folder).href}/`, 'file:///release/')
    text = text.replaceAll(pathToFileURL(PROJECT).href, 'file:///project/')
    writeFileSync(path, text.replaceAll(`${root}/`, '/project/'))
  }
}
