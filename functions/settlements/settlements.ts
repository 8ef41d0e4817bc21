import type { LiveListing } from '../../src/domain/listing/live-listing.ts'
import type { RawHeaders } from '../../src/domain/relay/relayed-headers.ts'
import { readSettlementClaim } from '../../src/domain/settlement/settlement-claim.ts'
import type { Clock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import type { Store } from '../store/schema/store.ts'
import { createLoop } from '../store/work-loop.ts'
import { insertCheck, leaseChecks } from './check-store.ts'
import { type CreateJsonRpc, createJsonRpc, createNodes } from './json-rpc.ts'
import { createSeenPayees } from './seen-payees.ts'
import { verifyCheck } from './verify-check.ts'

/**
 * Settlements that sellers report on relayed calls, looked up on their chains. A seller's header is
 * its word and proves nothing; only what a chain shows is counted. The queue is in the
 * store: a crash or a node that is down for hours loses none.
 */
export type Settlements = ReturnType<typeof createSettlements>

export interface SettlementsParts {
  store: Store
  config: Pick<Config, 'RPC_URLS' | 'UNSAFE_ALLOW_PRIVATE_TARGETS'>
  clock: Clock
  log: Log
  createRpc?: CreateJsonRpc
}

const LOOK_EVERY_MS = 3_000
const AT_ONCE = 4

export function createSettlements(parts: SettlementsParts) {
  const { store, clock, log, config } = parts
  const nodes = createNodes(config.RPC_URLS, parts.createRpc ?? createJsonRpc)
  const allowTestCoins = config.UNSAFE_ALLOW_PRIVATE_TARGETS
  const seen = createSeenPayees()
  const writing = new Set<Promise<unknown>>()
  const { run: verify, idle } = createLoop(async () => {
    await Promise.all(writing)
    for (;;) {
      const checks = await leaseChecks(store, clock.now(), AT_ONCE)
      if (checks.length === 0) return
      await Promise.all(
        checks.map((check) => verifyCheck({ store, clock, log, nodes, allowTestCoins }, check)),
      )
    }
  })
  const timer = setInterval(() => {
    verify().catch((error) => log.error('settlement.queue_unreadable', { error: nameOf(error) }))
  }, LOOK_EVERY_MS)
  timer.unref()
  return {
    /**
     * Notes a relayed answer. Returns at once; the answer is not held up by the queue.
     *
     * @param startedAt when the call came in; it ends now
     */
    note(listing: LiveListing, request: RawHeaders, response: RawHeaders, startedAt: number): void {
      const claim = readSettlementClaim(request, response)
      if (claim === null) seen.note(listing.id, response, clock.now())
      const named = claim === null ? [] : seen.namedBefore(listing.id, claim.network, startedAt)
      const payouts = claim === null ? [] : payoutsOn(claim.network, [...listing.payout, ...named])
      // Without an address that was published, or named to the caller, a chain could prove nothing.
      if (claim === null || payouts.length === 0) return
      const write = insertCheck(store, listing.id, {
        claim,
        payouts,
        startedAt,
        endedAt: clock.now(),
      })
        .then((isQueued) => {
          if (!isQueued) log.error('settlement.queue_full', { listing: listing.id })
        })
        .catch((error) =>
          log.error('settlement.not_queued', { listing: listing.id, error: nameOf(error) }),
        )
        .finally(() => writing.delete(write))
      writing.add(write)
    },
    /** Looks up what is due. Resolves when nothing more is due now. */
    verify,
    close: async () => {
      clearInterval(timer)
      await Promise.all(writing)
      await idle().catch(() => {})
    },
  }
}

/** @returns the addresses on one chain, without their chain. */
function payoutsOn(network: string, payouts: readonly string[]): string[] {
  const addresses = payouts
    .filter((payout) => payout.startsWith(`${network}:`))
    .map((payout) => payout.slice(network.length + 1))
    .map((address) => (address.startsWith('0x') ? address.toLowerCase() : address))
  return [...new Set(addresses)]
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown'
}
