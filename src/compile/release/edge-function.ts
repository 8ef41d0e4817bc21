import { join } from 'node:path'
import { build, stop } from 'esbuild'
import type { Catalogue } from '../../derive/catalogue.ts'
import type { ReleaseFile } from '../../domain/derived/release-file.ts'
import { type BuildCache, KEY } from '../files/build-cache.ts'
import type { ReleaseFiles } from '../files/release-files.ts'
import { digestOf } from '../files/release-writer.ts'

const ROOT = join(import.meta.dirname, '../../..')

const EDGE = join(ROOT, 'functions/edge')

const PACKAGE = `${JSON.stringify({ type: 'module', main: 'search.js' })}\n`

/**
 * Writes the search for a function host: one file of code, and the server's own indexes beside it.
 *
 * @param cache of the code; a bundle is unchanged while its parts of the release are
 */
export async function writeSearchFunction(
  { functions, data }: Record<'functions' | 'data', ReleaseFiles>,
  { baseUrl, tables }: Pick<Catalogue, 'baseUrl' | 'tables'>,
  cache: BuildCache,
): Promise<void> {
  const { site: texts, alsoSearch } = tables
  const input = { base_url: baseUrl, texts, also_search: alsoSearch }
  const key = digestOf(`search function ${JSON.stringify(input)}`, KEY)
  const known = cache.get(key)
  const code = known ?? (await bundleSearch(input))
  if (known === null) cache.set(key, code)
  functions.write('search/search.js', code)
  // Without it Node takes an ES module for CommonJS, wherever the folder is copied to.
  functions.write('search/package.json', PACKAGE)
  for (const index of ['search.index', 'operations.index'])
    functions.link(`search/${index}`, data.stored(index))
}

/**
 * The search as one file for a function host: an ES module that exports `{ fetch(request, env) }`
 * and has no import left. Nothing from Node is in it: a server's compression is left out.
 * @param release the parts of the release file that answers repeat
 */
async function bundleSearch(
  release: Pick<ReleaseFile, 'base_url' | 'texts' | 'also_search'>,
): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [join(EDGE, 'edge-function.ts')],
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2023',
    logLevel: 'silent',
    absWorkingDir: ROOT,
    define: { RELEASE: JSON.stringify(release) },
  })
  await stop()
  const [bundle] = outputFiles
  if (bundle === undefined) throw new Error('esbuild wrote no file')
  return bundle.contents
}
