import type { SearchChoices } from '../../src/domain/derived/release-file.ts'
import type { SiteTexts } from '../../src/domain/derived/tables.ts'
import type { Gone } from '../../src/domain/derived/tombstone.ts'
import type { LiveListing, OptedOutListing } from '../../src/domain/listing/live-listing.ts'
import type { SharedHosts } from '../../src/domain/owners/shared-hosts.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import type { TaskNames } from '../../src/site/compare/versus.ts'
import type { StaticFiles } from '../static/static-files.ts'
import type { DoorData } from './door-data.ts'
import type { PageCode } from './page-code.ts'
import type { SearchTexts } from './prepare-texts.ts'

/** One published build, as the live functions see it. Immutable: a new build is a new Release. */
export interface Release {
  /** Digest of everything the build was made from. */
  name: string
  listings: ReadonlyMap<string, LiveListing>
  /** Out of the directory by their seller's wish; never among `listings`. */
  optedOut: ReadonlyMap<string, OptedOutListing>
  /** Who shares a host with whom: what claims are judged by. */
  sharedHosts: SharedHosts
  search: SearchIndex
  /** Operations, tools and skills of the listings. */
  operations: SearchIndex
  /** Listings that are gone, by id. */
  gone: ReadonlyMap<string, Gone>
  searchTexts: SearchTexts
  searchChoices: SearchChoices
  /** What the directory is called, and what it says of itself. */
  site: SiteTexts
  files: StaticFiles
  doorData: DoorData
  /** Names of tasks by id, in the order of their table. */
  tasks: TaskNames
  pageCode: PageCode
}
