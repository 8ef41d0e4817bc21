import { toGoneText } from '../../src/domain/derived/tombstone.ts'
import { isListingId } from '../../src/domain/listing/listing-id.ts'
import { MOST_COMPARED } from '../../src/domain/wire/links.ts'
import type { ChosenListings } from '../../src/site/compare/chosen-listings.ts'
import { splitTarget } from '../http/find-request-fault.ts'
import type { Parts } from '../parts/parts.ts'
import { type Release, readListing } from '../release/release.ts'
import { readComparedIds } from './chosen-comparison.ts'

/** Of what is asked for beyond the bound, only this many are named. */
const MOST_NAMED = 6
/** Characters of an id that no listing has. */
const MOST_SHOWN = 80

/**
 * What `/compare?ids=a,b` (or `ids=a&ids=b`) shows. A page is linked to from anywhere, so other
 * parameters are passed over; who is not there is said, and the others are shown.
 * It is made for the target of a request, path and query.
 */
export function createComparePage({ release }: Pick<Parts, 'release'>) {
  return async function compare(target: string): Promise<ChosenListings> {
    const current = release()
    const given = new URLSearchParams(splitTarget(target).query)
    const ids = readComparedIds(
      new URLSearchParams(given.getAll('ids').map((id) => ['ids', id])).toString(),
    )
    const asked = 'ids' in ids ? [...new Set(ids.ids)] : []
    const known = asked.filter((id) => current.listings.has(id))
    const unknown = asked.filter((id) => !current.listings.has(id))
    const beyond = known.slice(MOST_COMPARED)
    return {
      views: await Promise.all(known.slice(0, MOST_COMPARED).map((id) => readListing(current, id))),
      leftOut: [
        ...unknown.slice(0, MOST_NAMED).map((id) => toReason(current, id)),
        ...(unknown.length > MOST_NAMED
          ? [`${unknown.length - MOST_NAMED} more ids are unknown.`]
          : []),
        ...(beyond.length > 0
          ? [
              `A comparison holds at most ${MOST_COMPARED}; left out: ${beyond.slice(0, MOST_NAMED).join(', ')}.`,
            ]
          : []),
      ],
      tasks: current.tasks,
    }
  }
}

function toReason({ gone }: Release, id: string): string {
  const found = gone.get(id)
  if (found !== undefined) return toGoneText(found)
  const shown = id.length > MOST_SHOWN ? `${id.slice(0, MOST_SHOWN).toWellFormed()}…` : id
  return isListingId(id) ? `No listing has the id ${shown}.` : `${shown} is no id of a listing.`
}
