import { networkOf } from './rate-limits.ts'

/**
 * How much of a scarce resource clients may hold at once: calls under way, runs, bytes of bodies.
 * Besides each client, each IPv6 /48 has a share (an IPv4 address is its own network), so that a
 * hundred /64s of one party are not counted as a hundred clients.
 * @example one run for each client, released whatever happens:
 *   const runs = createBudget({ perClient: 1, perNetwork: 4, inAll: 8 })
 *   const held = runs.take(clientKey(…))
 *   if (typeof held === 'string') return busy(held) // 'client', 'network' or 'process'
 *   try { await run() } finally { held.release() }
 * @example bytes, counted on arrival; if all are taken, the largest holder's oldest holding is evicted:
 *   const held = bytes.take(client, { size: 0, evict: () => req.destroy() })
 *   if (typeof held === 'string' || held.grow(chunk.length) !== null) return refuse()
 */
export type Budget = ReturnType<typeof createBudget>

interface BudgetLimits {
  perClient: number
  /** What all clients in one IPv6 /48 may hold together. */
  perNetwork: number
  inAll: number
}

export type Reached = 'client' | 'network' | 'process'

interface HoldOptions {
  /** Default: 1. */
  size?: number
  /**
   * Ends a holding that has been evicted. If everything is taken, the network that holds the most
   * loses its oldest evictable holding to a newcomer whose network holds less.
   */
  evict?: () => void
}

interface Held {
  client: string
  network: string
  size: number
  evict: (() => void) | undefined
}

/**
 * @param whenFull `replace`: a newcomer always gets room by evicting the oldest holding: its client's own
 * if that share is used up, otherwise the largest holder's; default `refuse`
 */
export function createBudget(limits: BudgetLimits, whenFull: 'refuse' | 'replace' = 'refuse') {
  const tally = createTally()
  const findReached = (client: string, network: string, size: number) => {
    if (tally.ofClient(client) + size > limits.perClient) return 'client'
    return tally.ofNetwork(network) + size > limits.perNetwork ? 'network' : null
  }
  const findOldest = ({ client, network }: Held, reached: Reached, size: number) => {
    const replaces = whenFull === 'replace'
    if (reached === 'process')
      return tally.oldestOf(tally.largestAbove(tally.ofNetwork(network) + (replaces ? -1 : size)))
    return replaces ? tally.oldestOf(reached === 'client' ? client : network) : null
  }
  const makeRoom = (held: Held, size: number): Reached | null => {
    for (;;) {
      const own = findReached(held.client, held.network, size)
      const reached = own ?? (tally.inAll() + size > limits.inAll ? 'process' : null)
      if (reached === null) return null
      const oldest = findOldest(held, reached, size)
      if (oldest === null) return reached
      const { evict } = oldest
      tally.drop(oldest)
      evict?.()
    }
  }
  return {
    /** The exhausted share, if the next request from `client` would be refused. Takes nothing. */
    reachedBy: (client: string) =>
      whenFull === 'replace' ? null : findReached(client, networkOf(client), 1),
    isFree: tally.isEmpty,
    /** @returns the new holding, or the name of the exhausted share */
    take(client: string, { size = 1, evict }: HoldOptions = {}) {
      const held: Held = { client, network: networkOf(client), size, evict }
      const reached = makeRoom(held, size)
      if (reached !== null) return reached
      tally.add(held)
      return {
        /** Adds to the holding. @returns null, or the exhausted share if nothing was added */
        grow(by: number): Reached | null {
          const full = makeRoom(held, by)
          if (full === null) tally.grow(held, by)
          return full
        },
        /** Releases the whole holding; a second call does nothing. */
        release: () => tally.drop(held),
      }
    },
  }
}

function createTally() {
  // The holdings, oldest first.
  const all = new Set<Held>()
  const clients = new Map<string, number>()
  const networks = new Map<string, number>()
  let sum = 0
  const count = ({ client, network }: Held, by: number) => {
    sum += by
    addTo(clients, client, by)
    addTo(networks, network, by)
  }
  return {
    isEmpty: () => all.size === 0,
    inAll: () => sum,
    ofClient: (client: string) => clients.get(client) ?? 0,
    ofNetwork: (network: string) => networks.get(network) ?? 0,
    add(held: Held) {
      all.add(held)
      count(held, held.size)
    },
    grow(held: Held, by: number) {
      // An evicted holding stays empty.
      if (!all.has(held)) return
      held.size += by
      count(held, by)
    },
    drop(held: Held) {
      if (!all.delete(held)) return
      count(held, -held.size)
      // A set keeps deleted members alive until the next full collection, and `evict` refers to a call.
      held.evict = undefined
    },
    /** The network that holds the most, if it holds more than `size`. */
    largestAbove(size: number): string | null {
      let [largest, most]: [string | null, number] = [null, size]
      for (const [network, held] of networks) if (held > most) [largest, most] = [network, held]
      return largest
    },
    /** The oldest evictable holding of a client or network. */
    oldestOf(holder: string | null): Held | null {
      for (const held of all)
        if (held.evict !== undefined && (held.client === holder || held.network === holder))
          return held
      return null
    },
  }
}

function addTo(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
