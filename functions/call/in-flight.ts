import { type Budget, createBudget } from '../limits/budget.ts'
import type { RelayLimits } from './relay-limits.ts'

/** Counts calls under way, so that a slow seller or a greedy client cannot take all there is. */
export interface InFlight {
  /** @returns the call's place, or the name of the limit that is reached. */
  enter(listingId: string, client: string): Place | string
}

export interface Place {
  leave(): void
  /** Set by whoever runs the call: ends it, because others who hold less find no place. */
  giveWay: () => void
}

/**
 * A place counts twice, for its listing and in all. Where all are taken, the client that holds most
 * gives up its oldest: a few clients with a hundred calls each must not keep everybody else out.
 */
export function createInFlight(limits: RelayLimits['inFlight']): InFlight {
  const all = createBudget(limits)
  const listings = new Map<string, Budget>()
  const ofListing = (id: string): Budget => {
    const known = listings.get(id)
    if (known !== undefined) return known
    const created = createBudget({
      perClient: limits.perClientAndListing,
      perNetwork: limits.perNetworkAndListing,
      inAll: limits.perListing,
    })
    listings.set(id, created)
    return created
  }
  return {
    enter(listingId, client) {
      const own = ofListing(listingId)
      const [ofOwn, ofAll] = [own.reachedBy(client), all.reachedBy(client)]
      if (ofOwn !== null) return `listing and ${ofOwn}`
      if (ofAll !== null) return ofAll
      const giveWay = () => {
        place.leave()
        place.giveWay()
      }
      // Whoever gives way at the listing leaves a place in all, too.
      const here = own.take(client, { giveWay })
      if (typeof here === 'string') return 'listing'
      const inAll = all.take(client, { giveWay })
      const place: Place = {
        leave() {
          here.release()
          if (typeof inAll !== 'string') inAll.release()
          if (own.isFree() && listings.get(listingId) === own) listings.delete(listingId)
        },
        giveWay: () => {},
      }
      if (typeof inAll !== 'string') return place
      place.leave()
      return inAll
    },
  }
}
