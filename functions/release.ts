import type { LiveListing } from '../src/domain/live-listing.ts'

/** One published build, as the live functions see it. Immutable: a new build is a new Release. */
export interface Release {
  /** Digest of everything the build was made from. */
  name: string
  listings: ReadonlyMap<string, LiveListing>
}
