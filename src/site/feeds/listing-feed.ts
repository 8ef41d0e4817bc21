import type { ListingView } from '../../domain/views/listing-view.ts'
import { toHomeLists } from '../home/home-lists.ts'
import type { Feed } from './atom-feed.ts'

/** Entries in the feeds of new listings. */
const FEED_LENGTH = 50

/** The newest listings as a feed; `path` is where this form of it is served. */
export function toListingFeed(
  listings: readonly { view: ListingView; added: string }[],
  { baseUrl, path, name }: { baseUrl: string; path: string; name: string },
): Feed {
  return {
    author: name,
    title: `${name}: new listings`,
    home: `${baseUrl}/`,
    self: `${baseUrl}${path}`,
    entries: toHomeLists(listings, FEED_LENGTH).newest.map(({ row, added }) => ({
      id: row.id,
      title: `${row.name} (${row.kind_label})`,
      summary: row.summary,
      url: `${baseUrl}${row.page}`,
      added,
    })),
  }
}
