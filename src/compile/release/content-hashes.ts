import type { CompiledListing } from '../../compiled.ts'
import type { ContentHash } from '../../domain/changes/change-log.ts'
import { digestOf } from '../files/release-writer.ts'

/** Hex digits of a hash: of a whole listing, and of one member, which only says where to look. */
const WHOLE = 32
const MEMBER = 12

/** What each listing's JSON hashes to, as it is served. */
export function toContentHashes(listings: readonly CompiledListing[]): ContentHash[] {
  return listings.map(({ view }) => ({
    id: view.id,
    hash: digestOf(JSON.stringify(view), WHOLE),
    fields: Object.fromEntries(
      Object.entries(view).map(([name, value]) => [
        name,
        digestOf(JSON.stringify(value) ?? '', MEMBER),
      ]),
    ),
  }))
}
