import { linkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PublishedFile } from '../../domain/derived/release-file.ts'
import { bundleSearch } from '../deploy/bundle-edge-function.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { createReleaseWriter, digestOf } from '../files/release-writer.ts'
import { type BegunRelease, SEARCH_CODE } from './begin-release.ts'
import { describe } from './page-code.ts'

const PACKAGE = `${JSON.stringify({ type: 'module', main: 'search.js' })}\n`

/** The search for a function host: one file of code, and the index beside it. */
export interface SearchFunction {
  /** Names all that the code is made from, beside our own code. */
  madeFrom: string
  /** What `release.json` says of it. */
  files: Record<string, PublishedFile>
}

/**
 * Writes it to the release's `functions/search`. The index is the server's own; the code is that of
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
  linkSync(join(releaseDir, 'data/search.index'), join(folder, 'search.index'))
  return { madeFrom, files: { [SEARCH_CODE]: describe(code) } }
}
