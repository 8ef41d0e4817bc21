import { hash } from 'node:crypto'
import { join } from 'node:path'
import { build, type Plugin, stop } from 'esbuild'
import type { ReleaseFile } from '../domain/derived/tables.ts'
import type { Folder } from './folder.ts'
import type { SearchIndexes } from './indexes.ts'
import { digestCode, PROJECT } from './inputs.ts'

const PACKAGE = `${JSON.stringify({ type: 'module', main: 'search.js' })}\n`

/** Writes the search for a function host, beside the indexes: one file of code. */
export async function writeSearchFunction(
  folder: Folder,
  { base_url, texts, also_search, tasks }: Repeated,
): Promise<void> {
  const input = { base_url, texts, also_search, tasks }
  const file = 'functions/search/search.js'
  if (!folder.reuse(file, hash('sha256', JSON.stringify([digestCode(), input]))))
    folder.write(file, await bundleSearch(input))
  // Without it Node takes an ES module for CommonJS, wherever the folder is copied to.
  folder.write('functions/search/package.json', PACKAGE)
}

/** The server's own indexes, which a function host has too. */
export function writeIndexes(folder: Folder, { listings, operations }: SearchIndexes): void {
  for (const [file, bytes] of Object.entries({
    'search.index': listings,
    'operations.index': operations,
  })) {
    const data = folder.begin(`data/${file}`)
    data.write(bytes)
    data.finish()
    folder.link(`functions/search/${file}`, `data/${file}`)
  }
}

/** The parts of the release file that answers repeat. */
type Repeated = Pick<ReleaseFile, 'base_url' | 'texts' | 'also_search' | 'tasks'>

/**
 * The search as one file for a function host: an ES module that exports `{ fetch(request, env) }`
 * and has no import left. Nothing from Node is in it: a server's compression is left out.
 */
async function bundleSearch(release: Repeated): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [join(PROJECT, 'functions/edge/edge-function.ts')],
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2023',
    logLevel: 'silent',
    absWorkingDir: PROJECT,
    define: { RELEASE: JSON.stringify(release) },
    plugins: [WITHOUT_EFFECTS],
  })
  await stop()
  const [bundle] = outputFiles
  if (bundle === undefined) throw new Error('esbuild wrote no file')
  return bundle.contents
}

/** Importing a module of ours does nothing: one of which nothing is used stays out, with its packages. */
const WITHOUT_EFFECTS: Plugin = {
  name: 'without-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^\.\.?\// }, async ({ path, pluginData, ...place }) => {
      if (pluginData === WITHOUT_EFFECTS || place.importer.includes('/node_modules/')) return null
      return {
        ...(await resolve(path, { ...place, pluginData: WITHOUT_EFFECTS })),
        sideEffects: false,
      }
    })
  },
}
