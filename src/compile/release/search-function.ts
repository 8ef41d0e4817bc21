import { linkSync } from 'node:fs'
import { join } from 'node:path'
import type { PublishedFile } from '../../domain/derived/release-file.ts'
import { bundleSearch } from '../deploy/bundle-search.ts'
import type { Catalogue } from '../derive/catalogue.ts'
import { createReleaseWriter } from '../files/release-writer.ts'
import { describe } from './page-code.ts'

const FOLDER = 'functions/search'

/**
 * The search for a function host, in the release's `functions/search`: one file of code, and the
 * index beside it, which is the server's own.
 * @returns what `release.json` says of it
 */
export async function writeSearchFunction(
  releaseDir: string,
  { baseUrl, tables }: Pick<Catalogue, 'baseUrl' | 'tables'>,
): Promise<Record<string, PublishedFile>> {
  const { site: texts, alsoSearch } = tables
  const code = await bundleSearch({ base_url: baseUrl, texts, also_search: alsoSearch })
  createReleaseWriter(join(releaseDir, FOLDER)).write('search.js', code)
  linkSync(join(releaseDir, 'data/search.index'), join(releaseDir, FOLDER, 'search.index'))
  return { [`${FOLDER}/search.js`]: describe(code) }
}
