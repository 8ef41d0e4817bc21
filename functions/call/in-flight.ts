import type { RelayLimits } from './relay-limits.ts'

/** Counts calls under way, so that a slow seller or a greedy client cannot take all there is. */
export interface InFlight {
  /** @returns a function that ends the call, or the name of the limit that is reached. */
  enter(
    listingId: string,
    client: string,
  ): (() => void) | 'listing' | 'listing and client' | 'client' | 'process'
}

export function createInFlight(limits: RelayLimits['inFlight']): InFlight {
  const listings = new Map<string, number>()
  const clients = new Map<string, number>()
  const pairs = new Map<string, number>()
  let all = 0
  return {
    enter(listingId, client) {
      if (all >= limits.inAll) return 'process'
      if ((listings.get(listingId) ?? 0) >= limits.perListing) return 'listing'
      const pair = `${client} ${listingId}`
      if ((pairs.get(pair) ?? 0) >= limits.perClientAndListing) return 'listing and client'
      if ((clients.get(client) ?? 0) >= limits.perClient) return 'client'
      all += 1
      add(listings, listingId, 1)
      add(clients, client, 1)
      add(pairs, pair, 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        all -= 1
        add(listings, listingId, -1)
        add(clients, client, -1)
        add(pairs, pair, -1)
      }
    },
  }
}

function add(counts: Map<string, number>, key: string, step: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + step
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
