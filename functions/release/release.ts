import type { SearchChoices } from '../../src/domain/derived/release-file.ts'
import type { LiveListing } from '../../src/domain/listing/live-listing.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import type { StaticFiles } from '../static/static-files.ts'
import type { PageCode } from './page-code.ts'
import type { SearchTexts } from './prepare-texts.ts'

/** One published build, as the live functions see it. Immutable: a new build is a new Release. */
export interface Release {
  /** Digest of everything the build was made from. */
  name: string
  listings: ReadonlyMap<string, LiveListing>
  search: SearchIndex
  searchTexts: SearchTexts
  searchChoices: SearchChoices
  /** Text on top of every page, where the content has one. */
  banner: string | undefined
  files: StaticFiles
  pageCode: PageCode
}
