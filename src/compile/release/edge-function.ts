import { linkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import type { PublishedFile, ReleaseFile } from '../../domain/derived/release-file.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { KEY, type Memory } from '../files/memory.ts'
import { createReleaseWriter, digestOf } from '../files/release-writer.ts'
import { describe } from './page-code.ts'

const ROOT = join(import.meta.dirname, '../../..')

const EDGE = join(ROOT, 'functions/edge')

const PACKAGE = `${JSON.stringify({ type: 'module', main: 'search.js' })}\n`

/** The search for a function host. */
const SEARCH_CODE = 'functions/search/search.js'

/**
 * Writes the search for a function host: one file of code, and the server's own indexes beside it.
 *
 * @param memory of the code; a bundle is the same while what of the release goes into it is
 * @returns what `release.json` says of it
 */
export async function writeSearchFunction(
  releaseDir: string,
  { baseUrl, tables }: Pick<Catalogue, 'baseUrl' | 'tables'>,
  memory: Memory,
): Promise<Record<string, PublishedFile>> {
  const { site: texts, alsoSearch } = tables
  const input = { base_url: baseUrl, texts, also_search: alsoSearch }
  const key = digestOf(`search function ${JSON.stringify(input)}`, KEY)
  const known = memory.recall(key)
  const code = known ?? (await bundleSearch(input))
  if (known === null) memory.keep(key, code)
  createReleaseWriter(releaseDir).write(SEARCH_CODE, code)
  const folder = join(releaseDir, dirname(SEARCH_CODE))
  // Without it Node takes a file of modules for CommonJS, wherever the folder is copied to.
  writeFileSync(join(folder, 'package.json'), PACKAGE)
  for (const index of ['search.index', 'operations.index'])
    linkSync(join(releaseDir, 'data', index), join(folder, index))
  return { [SEARCH_CODE]: describe(code) }
}

/**
 * The search as one file for a function host: an ES module that exports `{ fetch(request, env) }` and
 * has no import left. Nothing of Node is in it: a server's compression is left out.
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
  const [bundle] = outputFiles
  if (bundle === undefined) throw new Error('esbuild wrote no file')
  return bundle.contents
}
