import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { LiveListingSchema } from '../src/domain/live-listing.ts'
import { StaticFileSchema } from '../src/domain/static-file.ts'
import { AlsoSearchSchema, SiteTextsSchema } from '../src/domain/tables.ts'
import type { Release } from './release.ts'
import { openSearchIndex } from './search/open-search-index.ts'
import { createStaticFiles } from './static/static-files.ts'

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

/**
 * Loads a release from its folder.
 *
 * @throws ReleaseError when it was built with another `BASE_URL`: its absolute URLs would be wrong.
 * @throws SearchIndexError when the search index is damaged or of another version.
 */
export function loadRelease(dir: string, baseUrl: string): Release {
  const data = (name: string) => join(dir, 'data', name)
  const file = v.parse(ReleaseFileSchema, JSON.parse(readFileSync(data('release.json'), 'utf8')))
  if (file.base_url !== baseUrl)
    throw new ReleaseError(
      `BASE_URL is ${baseUrl}, but the release in ${dir} was built with ${file.base_url}: build again with this BASE_URL, or start with the other`,
    )
  const { texts, also_search } = file
  return {
    name: file.name,
    listings: new Map(
      readRows(data('listings.ndjson'), LiveListingSchema).map((listing) => [listing.id, listing]),
    ),
    search: openSearchIndex(data('search.index')),
    searchTexts: {
      featured: texts.showcase,
      featured_label: texts.featured_label,
      sponsored_policy: texts.sponsored_policy,
      also_search,
      ranking: texts.ranking,
      attribution: texts.attribution,
    },
    files: createStaticFiles(join(dir, 'public'), readRows(data('files.ndjson'), StaticFileSchema)),
  }
}

function readRows<Schema extends v.GenericSchema>(
  path: string,
  schema: Schema,
): v.InferOutput<Schema>[] {
  const parser = v.parser(schema)
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parser(JSON.parse(line)))
}
