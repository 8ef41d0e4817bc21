import { linkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import type { PublishedFile, ReleaseFile } from '../../domain/derived/release-file.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { createReleaseWriter, digestOf } from '../files/release-writer.ts'
import { type BegunRelease, SEARCH_CODE } from './begin-release.ts'
import { describe } from './page-code.ts'

const ROOT = join(import.meta.dirname, '../../..')

const EDGE = join(ROOT, 'functions/edge')

const PACKAGE = `${JSON.stringify({ type: 'module', main: 'search.js' })}\n`

/** The search for a function host: one file of code, and the indexes beside it. */
export interface SearchFunction {
  /** Names all that the code is made from, beside our own code. */
  madeFrom: string
  /** What `release.json` says of it. */
  files: Record<string, PublishedFile>
}

/**
 * Writes it to the release's `functions/search`. The indexes are the server's own; the code is that of
 * the release before where nothing it is made from has changed.
 */
export async function writeSearchFunction(
  releaseDir: string,
  { baseUrl, tables }: Pick<Catalogue, 'baseUrl' | 'tables'>,
  { before, searchCode }: Pick<BegunRelease, 'before' | 'searchCode'>,
): Promise<SearchFunction> {
  const { site: texts, alsoSearch } = tables
  const input = { base_url: baseUrl, texts, also_search: alsoSearch }
  const madeFrom = digestOf(JSON.stringify(input))
  const isSame = before?.search_function === madeFrom && searchCode !== null
  const code = isSame ? searchCode : await bundleSearch(input)
  createReleaseWriter(releaseDir).write(SEARCH_CODE, code)
  const folder = join(releaseDir, dirname(SEARCH_CODE))
  // Without it Node takes a file of modules for CommonJS, wherever the folder is copied to.
  writeFileSync(join(folder, 'package.json'), PACKAGE)
  for (const index of ['search.index', 'operations.index'])
    linkSync(join(releaseDir, 'data', index), join(folder, index))
  return { madeFrom, files: { [SEARCH_CODE]: describe(code) } }
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
    plugins: [
      {
        name: 'without compression',
        setup({ onResolve }) {
          onResolve({ filter: /\/write-gzip-response\.ts$/ }, () => ({
            path: join(EDGE, 'no-compression.ts'),
          }))
        },
      },
    ],
  })
  const [bundle] = outputFiles
  if (bundle === undefined) throw new Error('esbuild wrote no file')
  return bundle.contents
}
