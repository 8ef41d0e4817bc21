import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'
import * as v from 'valibot'
import { AlsoSearchSchema, SiteTextsSchema } from '../../src/domain/derived/tables.ts'
import { LiveListingSchema } from '../../src/domain/listing/live-listing.ts'
import { StaticFileSchema, toUrlPath } from '../../src/domain/wire/static-file.ts'
import { createStaticFiles } from '../static/static-files.ts'
import { openSearchIndex } from './open-search-index.ts'
import type { Release } from './release.ts'

const ReleaseFileSchema = v.object({
  name: v.string(),
  base_url: v.string(),
  texts: SiteTextsSchema,
  also_search: v.array(AlsoSearchSchema),
})

/** A release that cannot be served: damaged, half there, or built for another address. */
export class ReleaseError extends Error {
  override name = 'ReleaseError'
}

/** Rows read without a pause: a server goes on answering while it loads a new release. */
const ROWS_AT_A_TIME = 500

/**
 * Loads a release from its folder, in short steps. Listing bodies that stay in the file are not
 * verified yet, see `verifyBodiesInSteps`.
 *
 * @throws ReleaseError when it was built with another `BASE_URL`: its absolute URLs would be wrong.
 * @throws SearchIndexError when the search index is damaged or of another version.
 */
export async function loadRelease(dir: string, baseUrl: string): Promise<Release> {
  const data = (name: string) => join(dir, 'data', name)
  const file = v.parse(ReleaseFileSchema, JSON.parse(await readFile(data('release.json'), 'utf8')))
  if (file.base_url !== baseUrl)
    throw new ReleaseError(
      `BASE_URL is ${baseUrl}, but the release in ${dir} was built with ${file.base_url}: build again with this BASE_URL, or start with the other`,
    )
  const { texts, also_search } = file
  const listings = await readRows(data('listings.ndjson'), LiveListingSchema, ({ id }) => id)
  const files = await readRows(data('files.ndjson'), StaticFileSchema, (row) => toUrlPath(row.file))
  return {
    name: file.name,
    listings,
    search: openSearchIndex(data('search.index')),
    searchTexts: {
      featured: texts.showcase,
      featured_label: texts.featured_label,
      sponsored_policy: texts.sponsored_policy,
      also_search,
      ranking: texts.ranking,
      attribution: texts.attribution,
    },
    files: createStaticFiles(join(dir, 'public'), files),
  }
}

async function readRows<Schema extends v.GenericSchema>(
  path: string,
  schema: Schema,
  keyOf: (row: v.InferOutput<Schema>) => string,
): Promise<Map<string, v.InferOutput<Schema>>> {
  const parser = v.parser(schema)
  const rows = new Map<string, v.InferOutput<Schema>>()
  const text = await readFile(path, 'utf8')
  for (let start = 0, read = 1; start < text.length; read += 1) {
    const end = text.indexOf('\n', start)
    const row = parser(JSON.parse(text.slice(start, end < 0 ? text.length : end)))
    rows.set(keyOf(row), row)
    start = end < 0 ? text.length : end + 1
    if (read % ROWS_AT_A_TIME === 0) await pause()
  }
  return rows
}
