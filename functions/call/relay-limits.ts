import { PURPOSES } from '../net/guard.ts'
import { type Budget, createBudget } from '../server/budget.ts'

/**
 * The relay's sizes and times, once: the code measures with them and `relay_info`
 * publishes them. Milliseconds and bytes.
 */
export const RELAY_LIMITS = {
  requestBodyBytes: 10 * 1024 * 1024,
  /** Names and values of one message's header fields, in each direction. */
  headerBytes: PURPOSES.relay.limits.headerBytes,
  connectMs: PURPOSES.relay.limits.connectMs,
  responseHeadersMs: 30_000,
  /** An offer may allow 300 s, and sellers settle after their handler whether anyone listens or not. */
  paidResponseHeadersMs: 330_000,
  /** Longest silence inside a body, in each direction. */
  idleBodyMs: 60_000,
  /** How fast a caller's body must arrive on average after the grace period, and its total time. */
  upload: { graceMs: 10_000, minBytesPerSecond: 1024, maxMs: 600_000 },
  /**
   * A client may hold an eighth of a listing's calls, so that others can still call it. A network
   * is an IPv6 /48.
   */
  inFlight: {
    perListing: 256,
    perListingAndClient: 32,
    perListingAndNetwork: 64,
    perClient: 128,
    perNetwork: 256,
    inAll: 1024,
  },
  /** Answers to payments whose callers left, still read for their settlement. */
  draining: { perClient: 16, perNetwork: 32, inAll: 128 },
}

export type RelayLimits = typeof RELAY_LIMITS

export interface Slot {
  leave(): void
  /** Set by whichever code acquired the slot; ends the call when the slot is needed. */
  giveWay: () => void
}

/**
 * Counts calls under way, so that a slow seller or a greedy client cannot take all slots. A slot
 * counts for its listing and overall. Where all are taken, the client that holds most loses its
 * oldest: a few clients with a hundred calls each must not keep everybody else out.
 */
export function createInFlight(limits: RelayLimits['inFlight']) {
  const all = createBudget(limits)
  const listings = new Map<string, Budget>()
  const ofListing = (id: string): Budget => {
    const known = listings.get(id)
    if (known !== undefined) return known
    const created = createBudget({
      perClient: limits.perListingAndClient,
      perNetwork: limits.perListingAndNetwork,
      inAll: limits.perListing,
    })
    listings.set(id, created)
    return created
  }
  return {
    /** @returns the call's slot, or the name of the limit that is reached */
    enter(listingId: string, client: string): Slot | string {
      const own = ofListing(listingId)
      const [ofOwn, ofAll] = [own.reachedBy(client), all.reachedBy(client)]
      if (ofOwn !== null) return `listing and ${ofOwn}`
      if (ofAll !== null) return ofAll
      const giveWay = () => {
        slot.leave()
        slot.giveWay()
      }
      // A call evicted at its listing also frees a slot overall.
      const here = own.take(client, { giveWay })
      if (typeof here === 'string') return 'listing'
      const inAll = all.take(client, { giveWay })
      const slot: Slot = {
        leave() {
          here.release()
          if (typeof inAll !== 'string') inAll.release()
          if (own.isFree() && listings.get(listingId) === own) listings.delete(listingId)
        },
        giveWay: () => {},
      }
      if (typeof inAll !== 'string') return slot
      slot.leave()
      return inAll
    },
  }
}
